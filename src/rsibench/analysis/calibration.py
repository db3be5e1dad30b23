"""How often intervals cover and tests reject when the truth is known: the estimators' own check, by simulation.

Tasks have difficulties from a beta distribution with a set mean and intraclass correlation; a second checkpoint keeps
the difficulty of a share of the tasks and gets a fresh one, from the same distribution, for the others. So both have
equal rates, pairs are exchangeable, and every rejection is false.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rsibench.analysis.arrays import Floats
from rsibench.analysis.paired import paired_difference
from rsibench.analysis.pass_rate import pass_rate
from rsibench.analysis.task_counts import TaskCounts

DRAWS = 1_000


class Setting(NamedTuple):
    """What is simulated. `shared`: share of the tasks that are as hard for the second checkpoint as for the first."""

    tasks: int
    decodes: int
    rate: float
    icc: float = 0.5
    shared: float = 0.5


class Calibration(NamedTuple):
    """Shares of `repeats`. For a nominal 95 % interval and a nominal 5 % test."""

    rate_coverage: float
    rate_bootstrap_coverage: float
    difference_coverage: float
    exact_size: float
    """Of the exact p-value, which may be below 5 % but not above."""
    mid_p_size: float
    repeats: int


def calibrate(setting: Setting, repeats: int, rng: np.random.Generator, draws: int = DRAWS) -> Calibration:
    """Run the estimators on `repeats` simulated pairs of checkpoints without a difference."""
    found = np.zeros(5)
    for _ in range(repeats):
        first, second = draw_pair(setting, rng)
        rate = pass_rate(first, rng, draws)
        difference = paired_difference(first, second, rng, draws)
        found += (
            rate.interval.holds(setting.rate),
            rate.bootstrap.holds(setting.rate),
            difference.interval.holds(0.0),
            difference.test.p_value <= 0.05,
            difference.test.mid_p <= 0.05,
        )
    rate_share, bootstrap_share, difference_share, exact_share, mid_share = (float(share) for share in found / repeats)
    return Calibration(rate_share, bootstrap_share, difference_share, exact_share, mid_share, repeats)


def draw_pair(setting: Setting, rng: np.random.Generator) -> tuple[TaskCounts, TaskCounts]:
    """Two checkpoints of equal rate on the same tasks."""
    one = _difficulties(setting, rng)
    two = np.where(rng.random(setting.tasks) < setting.shared, one, _difficulties(setting, rng))
    return (
        TaskCounts.of(rng.binomial(setting.decodes, one), setting.decodes),
        TaskCounts.of(rng.binomial(setting.decodes, two), setting.decodes),
    )


def _difficulties(setting: Setting, rng: np.random.Generator) -> Floats:
    """(tasks,): chances of a pass; with icc the variance between tasks is icc * rate * (1 - rate)."""
    if setting.icc == 0:
        return np.full(setting.tasks, setting.rate)
    weight = 1 / setting.icc - 1
    return rng.beta(setting.rate * weight, (1 - setting.rate) * weight, size=setting.tasks)
