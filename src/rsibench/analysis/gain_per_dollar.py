"""Gain per dollar: official gain over base divided by what was spent, over runs of one researcher.

A ratio of means, not a mean of ratios: a cheap run with a lucky gain would otherwise decide. Its interval is Fieller's,
which is unbounded where the spending cannot be told from nothing.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from scipy import special

from rsibench.analysis.arrays import Floats
from rsibench.analysis.interval import CONFIDENCE, Interval


class GainPerDollar(NamedTuple):
    """Share of the score scale a dollar. `interval` is None for one run and where it would be unbounded."""

    ratio: float | None
    interval: Interval | None
    runs: int
    mean_gain: float
    mean_usd: float


def gain_per_dollar(gains: Floats, usd: Floats, confidence: float = CONFIDENCE) -> GainPerDollar:
    """From gains (runs,) and dollars (runs,). `ratio` is None when nothing was spent.

    Fieller (1954), J. R. Stat. Soc. B 16, 175: all ratios r at which mean(gain - r usd) is not significant by Student's
    t; the roots of a quadratic in r.
    """
    runs = len(gains)
    if runs == 0 or len(usd) != runs:
        raise ValueError(f"{runs} gains and {len(usd)} costs")
    gain, cost = float(gains.mean()), float(usd.mean())
    ratio = gain / cost if cost > 0 else None
    if ratio is None or runs < 2:
        return GainPerDollar(ratio, None, runs, gain, cost)
    t = float(special.stdtrit(runs - 1, 0.5 + confidence / 2))
    factor = t * t / runs
    gain_variance, cost_variance = float(gains.var(ddof=1)), float(usd.var(ddof=1))
    covariance = float(((gains - gain) * (usd - cost)).sum() / (runs - 1))
    a = cost * cost - factor * cost_variance
    b = gain * cost - factor * covariance
    c = gain * gain - factor * gain_variance
    inside = b * b - a * c
    if a <= 0 or inside < 0:
        return GainPerDollar(ratio, None, runs, gain, cost)
    root = sqrt(inside)
    return GainPerDollar(ratio, Interval((b - root) / a, (b + root) / a), runs, gain, cost)
