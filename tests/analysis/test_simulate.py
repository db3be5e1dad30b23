"""Simulated runs: their measurement, stopping rules, and what no skill looks like."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from rsibench.analysis.optimism import expected_best_of
from rsibench.analysis.power import Design, rate_variance
from rsibench.analysis.researcher_model import (
    DrawnAttempts,
    FixedAttempts,
    Patience,
    ProfileModel,
    ResearcherModel,
    TargetGain,
)
from rsibench.analysis.simulate import simulate
from rsibench.analysis.simulation_summary import summarise

PROFILE = ProfileModel(base=0.3, selection_tasks=100, official_tasks=100, icc=0.0)
RUNS = 20_000


def test_no_skill_has_no_true_gain_but_optimism() -> None:
    found = summarise(simulate(ResearcherModel(name="none", stopping=FixedAttempts(attempts=5)), PROFILE, RUNS, seed=1))
    assert found.true_gain == pytest.approx(0.0, abs=1e-12)
    assert found.official_gain == pytest.approx(0.0, abs=0.002)
    assert found.optimism == pytest.approx(expected_best_of(5, 0.3, 100), abs=0.001)
    assert found.discovery == pytest.approx(0.77, abs=0.03)  # a little below 1 - 1/5, for ties


@pytest.mark.parametrize(("decodes", "icc"), [(1, 0.5), (4, 0.5), (4, 0.0), (2, 0.8)])
def test_measured_scores_have_the_designs_mean_and_variance(decodes: int, icc: float) -> None:
    profile = ProfileModel(base=0.3, selection_tasks=60, official_tasks=60, decodes=decodes, icc=icc)
    runs = simulate(ResearcherModel(name="one", stopping=FixedAttempts(attempts=1)), profile, RUNS, seed=2)
    scores = runs.attempts.scores[:, 0]
    assert scores.mean() == pytest.approx(0.3, abs=0.003)
    assert scores.var() == pytest.approx(rate_variance(0.3, Design(60, decodes, icc)), rel=0.05)
    shared = np.corrcoef(scores, runs.base_selection)[0, 1]
    assert shared == pytest.approx(icc * decodes / (1 + (decodes - 1) * icc), abs=0.04)


def test_skill_and_drift_add_up() -> None:
    researcher = ResearcherModel(name="steady", skill=0.1, drift=0.05, stopping=FixedAttempts(attempts=4))
    found = summarise(simulate(researcher, PROFILE, RUNS, seed=3))
    assert 0.2 < found.true_gain <= 0.25
    assert found.regret == pytest.approx(0.25 - found.true_gain, abs=1e-6)
    assert found.probability_of_gain > 0.98


def test_keeping_base_prevents_harm() -> None:
    harmful = ResearcherModel(name="harm", skill=-0.2, stopping=FixedAttempts(attempts=3), keeps_base=True)
    runs = simulate(harmful, PROFILE, 2_000, seed=4)
    assert float((runs.selected == -1).mean()) > 0.95
    assert np.array_equal(runs.official[runs.selected == -1], runs.base_official[runs.selected == -1])
    careless = summarise(simulate(harmful.model_copy(update={"keeps_base": False}), PROFILE, 2_000, seed=4))
    assert careless.probability_of_harm > 0.9


def test_patience_stops_after_attempts_without_a_new_best() -> None:
    researcher = ResearcherModel(name="patient", noise=0.1, stopping=Patience(without_best=2, at_most=9))
    attempts = simulate(researcher, PROFILE, 500, seed=5).attempts
    for scores, length in zip(attempts.scores, attempts.lengths, strict=True):
        made = scores[:length].tolist()
        waited = [place - made.index(max(made[: place + 1])) for place in range(length)]
        assert all(since < 2 for since in waited[:-1])
        assert waited[-1] == 2 or length == 9


def test_target_stops_at_the_first_score_that_reaches_it() -> None:
    researcher = ResearcherModel(name="aims", noise=0.1, stopping=TargetGain(gain=0.05, at_most=6))
    runs = simulate(researcher, PROFILE, 500, seed=6)
    for scores, length, base in zip(runs.attempts.scores, runs.attempts.lengths, runs.base_selection, strict=True):
        reached = scores[:length] >= base + 0.05
        assert not reached[:-1].any()
        assert reached[-1] or length == 6


def test_drawn_lengths_follow_their_weights() -> None:
    stopping = DrawnAttempts(weights=(0, 1, 0, 3))
    lengths = simulate(ResearcherModel(name="drawn", stopping=stopping), PROFILE, RUNS, seed=7).attempts.lengths
    assert set(lengths.tolist()) == {2, 4}
    assert float((lengths == 4).mean()) == pytest.approx(0.75, abs=0.015)
    with pytest.raises(ValidationError, match="not all zero"):
        DrawnAttempts(weights=(0.0, 0.0))


def test_the_same_seed_gives_the_same_runs() -> None:
    researcher = ResearcherModel(name="again", noise=0.05, stopping=Patience(without_best=2, at_most=5))
    one, two, other = (simulate(researcher, PROFILE, 60_000, seed) for seed in (8, 8, 9))
    assert np.array_equal(one.attempts.scores, two.attempts.scores)
    assert np.array_equal(one.official, two.official)
    assert not np.array_equal(one.official, other.official)
