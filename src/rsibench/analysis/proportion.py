"""Intervals for a proportion of independent trials. For decodes nested in tasks use `pass_rate`, never these alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rsibench.analysis.arrays import Floats
from rsibench.analysis.interval import CONFIDENCE, Interval


def wilson(passed: float, counted: float, confidence: float = CONFIDENCE) -> Interval:
    """Score interval for `passed` of `counted`; both may be fractional, as effective numbers are.

    Wilson (1927), J. Am. Stat. Assoc. 22, 209. With nothing counted it is the whole range from 0 to 1.
    """
    low, high = wilson_bounds(passed, counted, confidence)
    return Interval(float(low), float(high))


def wilson_bounds(
    passed: ArrayLike, counted: ArrayLike, confidence: float | Floats = CONFIDENCE
) -> tuple[Floats, Floats]:
    """Wilson bounds of arrays that broadcast together. Raises ValueError unless 0 <= passed <= counted."""
    hits, total = _checked(passed, counted)
    z = special.ndtri(0.5 + np.asarray(confidence) / 2)
    safe = np.where(total > 0, total, 1.0)
    rate = hits / safe
    centre = (rate + z**2 / (2 * safe)) / (1 + z**2 / safe)
    half = z / (1 + z**2 / safe) * np.sqrt(rate * (1 - rate) / safe + z**2 / (4 * safe**2))
    low = np.where(total > 0, np.where(hits <= 0, 0.0, np.maximum(centre - half, 0.0)), 0.0)
    high = np.where(total > 0, np.where(hits >= total, 1.0, np.minimum(centre + half, 1.0)), 1.0)
    return low, high


def clopper_pearson(passed: int, counted: int, confidence: float = CONFIDENCE) -> Interval:
    """Exact interval: never below its confidence, usually above it.

    Clopper and Pearson (1934), Biometrika 26, 404, by the quantiles of the beta distribution.
    """
    hits, total = (float(value) for value in _checked(passed, counted))
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(special.betaincinv(hits, total - hits + 1, tail))
    high = 1.0 if hits == total else float(special.betaincinv(hits + 1, total - hits, 1 - tail))
    return Interval(low, high)


def _checked(passed: ArrayLike, counted: ArrayLike) -> tuple[Floats, Floats]:
    hits, total = np.asarray(passed, dtype=np.float64), np.asarray(counted, dtype=np.float64)
    if np.any(hits < 0) or np.any(hits > total):
        raise ValueError("passed must lie between 0 and counted")
    return hits, total
