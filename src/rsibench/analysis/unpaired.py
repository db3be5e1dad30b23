"""Two pass counts of which only totals are known: exact tests and an interval that treat them as independent samples.

When both were measured on the same tasks this wastes what pairing would give and errs on the careful side; from totals
alone the pairing cannot be had back.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy import special

from rsibench.analysis.arrays import Floats, Ints
from rsibench.analysis.interval import CONFIDENCE, Interval
from rsibench.analysis.mcnemar import ExactTest
from rsibench.analysis.proportion import wilson

_RELATIVE = 1e-7


def fisher_exact(passed: tuple[int, int], counted: tuple[int, int]) -> ExactTest:
    """Two-sided exact test of equal rates: tables at most as likely as the observed one, given the margins.

    Fisher (1935), J. R. Stat. Soc. 98, 39; the mid-p counts equally likely tables half.
    """
    (first, second), (size_one, size_two) = passed, counted
    if not (0 <= first <= size_one and 0 <= second <= size_two):
        raise ValueError("passed must lie between 0 and counted on both sides")
    total = first + second
    support = np.arange(max(0, total - size_two), min(total, size_one) + 1)
    log_masses = _log_binomial(size_one, support) + _log_binomial(size_two, total - support)
    masses = np.exp(log_masses - log_masses.max())
    masses /= masses.sum()
    at = masses[first - support[0]]
    like = np.abs(masses - at) <= _RELATIVE * at
    less = (masses < at) & ~like
    smaller, equal = float(masses[less].sum()), float(masses[like].sum())
    return ExactTest(min(1.0, smaller + equal), min(1.0, smaller + equal / 2))


def newcombe(passed: tuple[float, float], counted: tuple[float, float], confidence: float = CONFIDENCE) -> Interval:
    """Interval for the second rate minus the first from their two Wilson intervals.

    Newcombe (1998), Stat. Med. 17, 873, method 10. Numbers may be fractional, as effective numbers are.
    """
    one, two = passed[0] / counted[0], passed[1] / counted[1]
    first, second = (wilson(hits, total, confidence) for hits, total in zip(passed, counted, strict=True))
    down = sqrt((two - second.low) ** 2 + (first.high - one) ** 2)
    up = sqrt((second.high - two) ** 2 + (one - first.low) ** 2)
    return Interval(max(-1.0, two - one - down), min(1.0, two - one + up))


def _log_binomial(size: int, chosen: Ints) -> Floats:
    logs: Floats = special.gammaln(size + 1) - special.gammaln(chosen + 1) - special.gammaln(size - chosen + 1)
    return logs
