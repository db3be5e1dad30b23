"""Intervals of proportions against published tables and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rsibench.analysis.interval import Interval
from rsibench.analysis.proportion import clopper_pearson, wilson, wilson_bounds

# Newcombe (1998), Stat. Med. 17, 857, table I: the score interval (method 3) and the exact one (method 5)
PUBLISHED = [
    (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20, (0.0000, 0.1611), (0.0000, 0.1684)),
    (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
]


@pytest.mark.parametrize(("passed", "counted", "score", "exact"), PUBLISHED)
def test_published_table(passed: int, counted: int, score: tuple[float, float], exact: tuple[float, float]) -> None:
    assert wilson(passed, counted) == pytest.approx(score, abs=5.1e-5)
    assert clopper_pearson(passed, counted) == pytest.approx(exact, abs=5.1e-5)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_agrees_with_scipy(case: tuple[int, int]) -> None:
    passed, counted = case
    test = stats.binomtest(passed, counted)
    score, exact = test.proportion_ci(method="wilson"), test.proportion_ci(method="exact")
    assert wilson(passed, counted) == pytest.approx((score.low, score.high), abs=1e-9)
    assert clopper_pearson(passed, counted) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_arrays_and_single_values_agree() -> None:
    passed, counted = np.array([0, 3, 10]), np.array([10, 10, 10])
    low, high = wilson_bounds(passed, counted)
    assert [Interval(*ends) for ends in zip(low, high, strict=True)] == [wilson(hits, 10) for hits in (0, 3, 10)]


def test_nothing_counted_is_the_whole_range() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_more_passed_than_counted_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and counted"):
        wilson(11, 10)
