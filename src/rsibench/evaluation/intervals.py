"""95 % intervals for a mean of item rates and for the difference of two such means over the same items.

Closed formulas without random numbers, so that what a report prints can be computed again anywhere. They are
large-sample formulas over items; they say nothing about other seeds of training or other sets of tasks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from rsibench.evaluation.item_rates import mean

CONFIDENCE = 0.95
_UPPER_TAIL = 1 - (1 - CONFIDENCE) / 2


class Interval(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


def wilson(rate: float, size: float) -> Interval:
    """Wilson's score interval for a proportion `rate` of `size` independent observations.

    `size` may be fractional (an effective sample size) and must be positive. E. B. Wilson, Probable inference, the law
    of succession, and statistical inference, JASA 22 (1927): the rates p with (rate - p)^2 <= z^2 p (1 - p) / size.
    """
    from scipy.special import ndtri  # noqa: PLC0415 - loaded when used

    square = float(ndtri(_UPPER_TAIL)) ** 2 / size
    centre = (rate + square / 2) / (1 + square)
    half = math.sqrt(square * rate * (1 - rate) + square**2 / 4) / (1 + square)
    low = 0.0 if rate <= 0 else max(0.0, centre - half)
    high = 1.0 if rate >= 1 else min(1.0, centre + half)
    return Interval(low, high)


def rate_interval(rates: Sequence[Fraction], decodes: int) -> Interval:
    """Interval for the mean of the items' rates, which `decodes` counted decodes gave together.

    One decode an item: Wilson's interval over items. Several: Wilson's interval at the effective sample size, at which
    independent observations would have the standard error seen between items, corrected for its degrees of freedom and
    at most the number of decodes (E. L. Korn and B. I. Graubard, Survey Methodology 24 (1998); compared by N. Dean and
    M. Pagano, Journal of Survey Statistics and Methodology 3 (2015)). When items do not differ at all, each item counts
    as one observation.
    """
    centre, items = mean(rates), len(rates)
    size = float(items) if decodes == items else min(float(decodes), _effective_size(rates, centre))
    return wilson(float(centre), size)


def difference_interval(
    base: Sequence[Fraction], selected: Sequence[Fraction], base_decodes: int, selected_decodes: int
) -> Interval:
    """Interval for mean(selected) - mean(base), where both hold the same items in the same order.

    The two means' own intervals are combined by the distances of their ends and the correlation between items: R. G.
    Newcombe, Statistics in Medicine 17 (1998) 2635, method 8 for single decodes; G. Y. Zou and A. Donner, Statistics in
    Medicine 27 (2008), for any two estimates with intervals.
    """
    first, second = float(mean(selected)), float(mean(base))
    first_ends, second_ends = rate_interval(selected, selected_decodes), rate_interval(base, base_decodes)
    correlation = _correlation(base, selected)
    down = _combined(first - first_ends.low, second_ends.high - second, correlation)
    up = _combined(first_ends.high - first, second - second_ends.low, correlation)
    return Interval(max(-1.0, first - second - down), min(1.0, first - second + up))


def _combined(one: float, other: float, correlation: float) -> float:
    return math.sqrt(max(0.0, one**2 + other**2 - 2 * correlation * one * other))


def _effective_size(rates: Sequence[Fraction], centre: Fraction) -> float:
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 - loaded when used

    items = len(rates)
    squares = _sum_of_products(rates, rates)
    if not squares:
        return float(items)
    error = float(squares / (items - 1) / items)
    correction = (float(ndtri(_UPPER_TAIL)) / float(stdtrit(items - 1, _UPPER_TAIL))) ** 2
    return float(centre * (1 - centre)) / error * correction


def _correlation(left: Sequence[Fraction], right: Sequence[Fraction]) -> float:
    """Pearson's correlation over items; 0 when one side does not vary."""
    scale = math.sqrt(_sum_of_products(left, left) * _sum_of_products(right, right))
    return float(_sum_of_products(left, right)) / scale if scale else 0.0


def _sum_of_products(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    left_mean, right_mean = mean(left), mean(right)
    products = ((a - left_mean) * (b - right_mean) for a, b in zip(left, right, strict=True))
    return sum(products, Fraction(0))
