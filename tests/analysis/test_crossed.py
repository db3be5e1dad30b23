"""Crossed differences: calibrated for other tasks and other runs, and equal to simpler estimates where those hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rsibench.analysis.arrays import Floats
from rsibench.analysis.crossed import crossed_difference


def _draw(rng: np.random.Generator, runs: int, tasks: int, run_sd: float, hard: Floats) -> Floats:
    """Verdicts (runs, tasks) of a researcher whose runs differ by `run_sd` and who meets tasks as hard as `hard`."""
    chance = np.clip(hard[None, :] + rng.normal(0, run_sd, size=(runs, 1)), 0, 1)
    verdicts: Floats = (rng.random((runs, tasks)) < chance).astype(np.float64)
    return verdicts


@pytest.mark.parametrize(("runs", "tasks", "run_sd"), [(3, 100, 0.0), (3, 100, 0.05), (5, 60, 0.1), (2, 200, 0.05)])
def test_intervals_cover_and_tests_reject_as_they_say(runs: int, tasks: int, run_sd: float) -> None:
    rng = np.random.default_rng([runs, tasks])
    repeats, covered, rejected = 3_000, 0, 0
    for _ in range(repeats):
        hard = rng.beta(0.4, 0.6, size=tasks)
        own = np.where(rng.random(tasks) < 0.7, hard, rng.beta(0.4, 0.6, size=tasks))
        found = crossed_difference(_draw(rng, runs, tasks, run_sd, hard), _draw(rng, runs, tasks, run_sd, own))
        covered += found.interval.holds(0.0)
        rejected += found.p_value <= 0.05
    assert 0.93 <= covered / repeats <= 0.98
    assert 0.02 <= rejected / repeats <= 0.07


def test_one_run_a_side_is_the_paired_t_test_over_tasks() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.random((1, 40)), rng.random((1, 40))
    expected = stats.ttest_rel(second[0], first[0])
    found = crossed_difference(first, second)
    assert found.p_value == pytest.approx(float(expected.pvalue))
    assert found.difference == pytest.approx(float((second - first).mean()))
    assert found.run_sd == (None, None)


def test_runs_that_differ_widen_the_interval_and_are_reported() -> None:
    rng = np.random.default_rng(5)
    base = (rng.random((1, 300)) < 0.3).astype(np.float64)
    alike = (rng.random((3, 300)) < 0.5).astype(np.float64)
    apart = np.stack([(rng.random(300) < rate).astype(np.float64) for rate in (0.2, 0.5, 0.8)])
    narrow, wide = crossed_difference(base, alike), crossed_difference(base, apart)
    assert wide.interval.width > 2 * narrow.interval.width
    assert wide.run_sd[1] == pytest.approx(0.3, abs=0.05)


def test_no_difference_anywhere_is_not_taken_for_proof_of_none() -> None:
    same = np.ones((3, 60))
    found = crossed_difference(same[:1], same)
    assert (found.difference, found.p_value) == (0.0, 1.0)
    assert found.interval.high == pytest.approx(3 / 60)


def test_sides_must_have_the_same_tasks_and_two_of_them() -> None:
    with pytest.raises(ValueError, match="at least two"):
        crossed_difference(np.ones((1, 1)), np.ones((1, 1)))
    with pytest.raises(ValueError, match="same tasks"):
        crossed_difference(np.ones((1, 3)), np.ones((1, 4)))
