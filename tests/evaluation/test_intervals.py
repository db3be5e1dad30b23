"""Intervals: against published values, another implementation, and simulated experiments."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from scipy.stats import binomtest

from rsibench.evaluation.intervals import difference_interval, rate_interval, wilson


@pytest.mark.parametrize(
    ("passed", "items", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_matches_the_published_table(passed: int, items: int, low: float, high: float) -> None:
    """Method 3 in table I of R. G. Newcombe, Statistics in Medicine 17 (1998) 857."""
    assert list(wilson(passed / items, items)) == pytest.approx([low, high], abs=5e-5)


@pytest.mark.parametrize("items", [1, 2, 7, 64, 513])
def test_wilson_matches_scipy(items: int) -> None:
    for passed in {0, 1, items // 3, items // 2, items - 1, items}:
        other = binomtest(passed, items).proportion_ci(confidence_level=0.95, method="wilson")
        rates = [Fraction(int(index < passed)) for index in range(items)]
        assert list(rate_interval(rates, items)) == pytest.approx([other.low, other.high], abs=1e-12)


def rates(source: random.Random, chances: list[float], decodes: int) -> list[Fraction]:
    return [Fraction(sum(source.random() < chance for _ in range(decodes)), decodes) for chance in chances]


def covered(decodes: int, items: int, spread: float, runs: int, *, pooled: bool = False) -> float:
    """Share of simulated splits whose interval holds the true mean; items differ from one another by `spread`."""
    source = random.Random(f"{decodes} {items} {spread}")
    hits = 0
    for _ in range(runs):
        chances = [min(1.0, max(0.0, source.betavariate(0.35 / spread, 0.65 / spread))) for _ in range(items)]
        found = rates(source, chances, decodes)
        mean = float(sum(found, Fraction(0)) / items)
        interval = wilson(mean, items * decodes) if pooled else rate_interval(found, items * decodes)
        hits += interval.low <= 0.35 <= interval.high
    return hits / runs


@pytest.mark.parametrize(("decodes", "items", "spread"), [(1, 60, 0.5), (4, 60, 0.5), (8, 30, 2.0), (4, 40, 0.05)])
def test_intervals_hold_the_truth_about_as_often_as_they_claim(decodes: int, items: int, spread: float) -> None:
    assert 0.925 <= covered(decodes, items, spread, runs=1_000) <= 0.99


def test_pooling_decodes_as_if_they_were_items_would_not_hold() -> None:
    assert covered(8, 30, 2.0, runs=1_000, pooled=True) < 0.7


def test_equal_items_are_one_observation_each() -> None:
    assert rate_interval([Fraction(1)] * 12, 48) == wilson(1.0, 12)
    assert rate_interval([Fraction(1, 2)], 4) == wilson(0.5, 1)


def test_items_that_hardly_differ_are_worth_no_more_than_their_decodes() -> None:
    nearly = [Fraction(1, 2)] * 63 + [Fraction(3, 4)]
    mean = float(sum(nearly, Fraction(0)) / 64)
    assert rate_interval(nearly, 256) == wilson(mean, 256)


def difference_covered(decodes: int, gain: float, items: int, runs: int) -> float:
    source = random.Random(f"{decodes} {gain} {items}")
    hits = 0
    for _ in range(runs):
        chances = [source.betavariate(0.8, 0.8) for _ in range(items)]
        base = rates(source, [(1 - gain) * chance for chance in chances], decodes)
        selected = rates(source, [(1 - gain) * chance + gain for chance in chances], decodes)
        interval = difference_interval(base, selected, items * decodes, items * decodes)
        hits += interval.low <= gain <= interval.high
    return hits / runs


@pytest.mark.parametrize(("decodes", "gain"), [(1, 0.0), (1, 0.3), (4, 0.0), (4, 0.3)])
def test_difference_intervals_hold_the_truth_about_as_often_as_they_claim(decodes: int, gain: float) -> None:
    assert 0.925 <= difference_covered(decodes, gain, items=64, runs=600) <= 0.99


def test_the_same_checkpoint_twice_has_a_narrow_interval_around_zero() -> None:
    found = [Fraction(index % 3 == 0) for index in range(90)]
    interval = difference_interval(found, found, 90, 90)
    assert interval.low <= 0 <= interval.high
    assert interval.high - interval.low < 0.06
