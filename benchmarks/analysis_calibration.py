"""How often the estimators' 95 % intervals cover and their 5 % tests reject when nothing is there, and how fast it is.

    python benchmarks/analysis_calibration.py [--repeats 5000] [--runs 1000000]

Prints three tables in Markdown: intervals and paired tests by tasks, decodes and rate; the size of the order null; the
time of a million simulated runs. One core; with the defaults about five minutes.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from rsibench.analysis.attempt_scores import AttemptScores
from rsibench.analysis.calibration import Setting, calibrate
from rsibench.analysis.order_null import order_null
from rsibench.analysis.process_rates import ProcessRate
from rsibench.analysis.researcher_model import FixedAttempts, Patience, ProfileModel, ResearcherModel
from rsibench.analysis.simulate import simulate
from rsibench.analysis.simulation_summary import summarise

TASKS = (30, 100, 500)
DECODES = (1, 2, 3, 4)
RATES = (0.1, 0.3, 0.5)
ORDER_RUNS = 24
ORDER_DRAWS = 2_000


def calibration_table(repeats: int, rng: np.random.Generator) -> None:
    """Coverage and size by tasks, decodes and rate."""
    print(f"Intraclass correlation 0.5, half of the tasks shared, {repeats} repeats a line\n")
    print("| tasks | decodes | rate | rate interval | rate bootstrap | difference interval | exact test | mid-p |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for tasks in TASKS:
        for decodes in DECODES:
            for rate in RATES:
                found = calibrate(Setting(tasks, decodes, rate), repeats, rng)
                shares = " | ".join(f"{share * 100:.1f}" for share in found[:5])
                print(f"| {tasks} | {decodes} | {rate} | {shares} |", flush=True)


def order_table(repeats: int, rng: np.random.Generator) -> None:
    """How often the order null calls exchangeable attempts unusual at 5 %."""
    print(f"\nOrder null, {ORDER_RUNS} runs of 2 to 8 exchangeable attempts on 100 tasks, {repeats} repeats\n")
    print("| rate | rejected at 5 % |")
    print("|---|--:|")
    for rate in (ProcessRate.DISCOVERY, ProcessRate.REGRESSION):
        rejected = 0
        for _ in range(repeats):
            lengths = rng.integers(2, 9, size=ORDER_RUNS)
            attempts = AttemptScores.of([rng.binomial(100, 0.4, size=length).tolist() for length in lengths])
            rejected += order_null(attempts, rate, rng, ORDER_DRAWS).p_value <= 0.05
        print(f"| {rate.value} | {rejected / repeats * 100:.1f} |", flush=True)


def speed_table(runs: int) -> None:
    """CPU seconds of simulated runs, summary included."""
    print(f"\n{runs:,} simulated runs on 100 + 100 tasks\n")
    print("| researcher | CPU s |")
    print("|---|--:|")
    profile = ProfileModel(base=0.3, selection_tasks=100, official_tasks=100)
    for researcher in (
        ResearcherModel(name="8 attempts, no skill", stopping=FixedAttempts(attempts=8)),
        ResearcherModel(
            name="skill, noise, drift, patience 3 of 15",
            skill=0.1,
            drift=0.01,
            noise=0.05,
            stopping=Patience(without_best=3, at_most=15),
            keeps_base=True,
        ),
    ):
        begun = time.process_time()
        summarise(simulate(researcher, profile, runs, seed=1))
        print(f"| {researcher.name} | {time.process_time() - begun:.1f} |", flush=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=1_000_000)
    given = parser.parse_args()
    rng = np.random.default_rng(20_261_130)
    calibration_table(given.repeats, rng)
    order_table(max(200, given.repeats // 5), rng)
    speed_table(given.runs)


if __name__ == "__main__":
    main()
