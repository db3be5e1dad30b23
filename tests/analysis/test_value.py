"""Gain per dollar, frontier, reliability and aggregates against other ways of computing them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rsibench.analysis.aggregate import (
    improvement_with_interval,
    interquartile_mean,
    probability_of_improvement,
    rsi_index,
    with_interval,
)
from rsibench.analysis.frontier import Priced, hypervolume, pareto_front
from rsibench.analysis.gain_per_dollar import gain_per_dollar
from rsibench.analysis.reliability import reliability

POINTS = st.lists(
    st.builds(Priced, st.just("r"), st.floats(0, 120, allow_nan=False), st.floats(0, 1, allow_nan=False)), max_size=8
)


def test_fieller_covers_the_true_ratio() -> None:
    rng = np.random.default_rng(3)
    true, repeats, runs = 0.004, 4_000, 8
    covered = 0
    for _ in range(repeats):
        usd = rng.normal(60, 15, size=runs)
        gains = true * 60 + rng.normal(0, 0.08, size=runs) + 0.001 * (usd - 60)
        interval = gain_per_dollar(gains, usd).interval
        assert interval is not None
        covered += interval.holds(true)
    assert 0.93 <= covered / repeats <= 0.97


def test_a_single_run_has_a_ratio_without_interval_and_free_runs_have_none() -> None:
    single = gain_per_dollar(np.array([0.1]), np.array([5.0]))
    assert single.ratio == pytest.approx(0.02)
    assert single.interval is None
    assert gain_per_dollar(np.array([0.1, 0.2]), np.array([0.0, 0.0])).ratio is None
    with pytest.raises(ValueError, match="costs"):
        gain_per_dollar(np.array([0.1]), np.array([]))


def test_spending_that_cannot_be_told_from_nothing_gives_no_bounds() -> None:
    found = gain_per_dollar(np.array([0.1, -0.1, 0.2]), np.array([0.01, 30.0, 0.02]))
    assert found.ratio is not None
    assert found.interval is None


@given(points=POINTS)
def test_the_front_is_what_no_point_beats(points: list[Priced]) -> None:
    front = pareto_front(points)
    for point in points:
        beaten = any(
            other.usd <= point.usd and other.score >= point.score and other[1:] != point[1:] for other in points
        )
        assert (point in front) != beaten


@given(points=POINTS, base=st.floats(0, 0.8))
def test_hypervolume_is_the_share_of_the_plane_below_the_front(points: list[Priced], base: float) -> None:
    budget, cells = 100.0, 400
    usd = (np.arange(cells) + 0.5) * budget / cells
    score = base + (np.arange(cells) + 0.5) * (1 - base) / cells
    below = np.zeros((cells, cells), dtype=bool)
    for point in points:
        below |= (usd[:, None] >= point.usd) & (score[None, :] <= point.score)
    assert hypervolume(points, base, budget) == pytest.approx(float(below.mean()), abs=0.02)


def test_a_reference_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(ValueError, match="positive budget"):
        hypervolume([], 0.5, 0)
    with pytest.raises(ValueError, match="below 1"):
        hypervolume([], 1.0, 10)


def test_reliability_counts_signs_and_clear_signs_apart() -> None:
    found = reliability(
        np.array([0.1, 0.02, 0.0, -0.2]), np.array([0.05, -0.1, -0.1, -0.3]), np.array([0.2, 0.1, 0.1, -0.1])
    )
    assert (found.gain, found.harm) == (0.5, 0.25)
    assert (found.clear_gain, found.clear_harm) == (0.25, 0.25)
    assert (found.worst, found.best) == (-0.2, 0.1)
    assert found.gain_interval.holds(0.5)
    assert found.spread == pytest.approx(stats.tstd([0.1, 0.02, 0.0, -0.2]))
    assert reliability(np.array([0.1]), np.array([0.0]), np.array([0.2])).spread is None
    with pytest.raises(ValueError, match="at least one run"):
        reliability(np.array([]), np.array([]), np.array([]))


SCORES = st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=1, max_size=6)


@given(first=SCORES, second=SCORES)
def test_probability_of_improvement_is_the_mann_whitney_share(first: list[float], second: list[float]) -> None:
    u = stats.mannwhitneyu(second, first).statistic
    expected = u / (len(first) * len(second))
    assert probability_of_improvement([np.array(first)], [np.array(second)]) == pytest.approx(float(expected))


def test_interquartile_mean_drops_a_quarter_at_each_end() -> None:
    assert interquartile_mean([np.array([9.0, 1, 2, 3]), np.array([4.0, 5, 6, -7])]) == pytest.approx(
        (2 + 3 + 4 + 5) / 4
    )


def test_rsi_index_is_the_mean_share_of_what_was_left_to_improve() -> None:
    finals = [np.array([0.6, 0.8]), np.array([0.1])]
    assert rsi_index(finals, [0.4, 0.2]) == pytest.approx(((0.3 / 0.6) + (-0.1 / 0.8)) / 2)
    with pytest.raises(ValueError, match="initial score of 1"):
        rsi_index(finals, [1.0, 0.2])


def test_intervals_resample_runs_within_their_profile_only() -> None:
    rng = np.random.default_rng(2)
    strata = [np.array([0.2, 0.4, 0.6]), np.array([0.9, 0.9])]
    found = with_interval(lambda runs: float(np.mean([one.mean() for one in runs])), strata, rng, draws=500)
    assert found.value == pytest.approx((0.4 + 0.9) / 2)
    assert found.interval.holds(found.value)
    # the second profile never moves, so the whole range is that of the first profile's mean
    assert found.interval.low >= (0.2 + 0.9) / 2
    assert found.interval.high <= (0.6 + 0.9) / 2
    better = improvement_with_interval([np.array([0.1, 0.2])], [np.array([0.5, 0.6])], rng, draws=100)
    assert (better.value, better.interval.low, better.runs) == (1.0, 1.0, 4)
    with pytest.raises(ValueError, match="at least one run"):
        with_interval(interquartile_mean, [np.array([])], rng)
