"""An observed process rate beside what chance alone gives: expectation, range, excess and p-value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rsibench.analysis.arrays import Floats
from rsibench.analysis.interval import CONFIDENCE, Interval
from rsibench.analysis.process_rates import CountOf, ProcessRate

_CLOSE = 1e-9


class NullComparison(NamedTuple):
    """`excess` is observed minus expected; `p_value` is two-sided. `null` names what chance was assumed to do."""

    rate: ProcessRate
    observed: CountOf
    expected: float
    null_range: Interval
    excess: float
    p_value: float
    null: str


def compare(rate: ProcessRate, observed: CountOf, drawn: Floats, null: str) -> NullComparison:
    """Set an observed rate against rates (draws,) under a null. Raises ValueError when there is nothing to compare.

    The p-value doubles the smaller mid-p tail and counts the observation among the draws, so it is never 0.
    """
    if observed.rate is None or len(drawn) == 0:
        raise ValueError(f"{rate}: no run can show it, so there is nothing to compare")
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    expected = float(drawn.mean())
    return NullComparison(
        rate=rate,
        observed=observed,
        expected=expected,
        null_range=Interval(float(low), float(high)),
        excess=observed.rate - expected,
        p_value=two_sided(observed.rate, drawn),
        null=null,
    )


def two_sided(observed: float, drawn: Floats) -> float:
    """Two-sided mid-p of `observed` among draws (draws,) from the null."""
    equal = int((np.abs(drawn - observed) <= _CLOSE).sum())
    above = int((drawn > observed + _CLOSE).sum())
    below = len(drawn) - equal - above
    smaller = (min(above, below) + (equal + 1) / 2) / (len(drawn) + 1)
    return min(1.0, 2 * smaller)
