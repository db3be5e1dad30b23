"""Aggregates over profiles: RSI-Index, interquartile mean and probability of improvement, with bootstrap intervals.

Runs are the units and are resampled within their profile (stratified), so that no profile can drop out of a resample.
Every aggregate hides which profile moved; they are printed beside the matrix, never instead of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from rsibench.analysis.arrays import Floats
from rsibench.analysis.interval import CONFIDENCE, Interval

RSI_INDEX_VERSION = "rsi-index-1"
DRAWS = 2_000


class Aggregate(NamedTuple):
    """A value with its interval; the interval has no width where every profile has one run."""

    value: float
    interval: Interval
    profiles: int
    runs: int


def rsi_index(finals: Sequence[Floats], initials: Sequence[float]) -> float:
    """Mean over profiles of mean((final - initial) / (1 - initial)), as RSIGym defines it (arXiv:2610.10310).

    `finals` holds one array (runs,) a profile. Raises ValueError for an initial score of 1, where it is undefined.
    """
    if any(initial >= 1 for initial in initials):
        raise ValueError("an initial score of 1 leaves nothing to improve; leave the profile out and say so")
    parts = [float((scores - start).mean() / (1 - start)) for scores, start in zip(finals, initials, strict=True)]
    return float(np.mean(parts))


def interquartile_mean(scores: Sequence[Floats]) -> float:
    """Mean of the middle half of all runs' scores: a quarter of them cut off at each end (Agarwal et al., 2021)."""
    return float(stats.trim_mean(np.concatenate(list(scores)), 0.25))


def probability_of_improvement(first: Sequence[Floats], second: Sequence[Floats]) -> float:
    """Chance that a run of the second beats a run of the first on the same profile, a tie counting one half.

    The mean over profiles of the Mann-Whitney statistic U / (m n) (Agarwal et al., 2021, arXiv:2108.13264).
    """
    wins = [
        float((np.sign(after[:, None] - before[None, :]) + 1).mean() / 2)
        for before, after in zip(first, second, strict=True)
    ]
    return float(np.mean(wins))


def with_interval(
    statistic: Callable[[Sequence[Floats]], float],
    strata: Sequence[Floats],
    rng: np.random.Generator,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
) -> Aggregate:
    """`statistic` of the strata and its percentile interval from resampling runs within each stratum."""
    _check(strata)
    drawn = np.array([statistic([_resample(one, rng) for one in strata]) for _ in range(draws)])
    return Aggregate(statistic(strata), _interval(drawn, confidence), len(strata), sum(len(one) for one in strata))


def improvement_with_interval(
    first: Sequence[Floats],
    second: Sequence[Floats],
    rng: np.random.Generator,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
) -> Aggregate:
    """`probability_of_improvement` with its percentile interval; both sides are resampled within each profile."""
    _check(first)
    _check(second)
    drawn = np.array(
        [
            probability_of_improvement([_resample(one, rng) for one in first], [_resample(one, rng) for one in second])
            for _ in range(draws)
        ]
    )
    runs = sum(len(one) for one in first) + sum(len(one) for one in second)
    return Aggregate(probability_of_improvement(first, second), _interval(drawn, confidence), len(first), runs)


def _check(strata: Sequence[Floats]) -> None:
    if not strata or any(len(one) == 0 for one in strata):
        raise ValueError("every profile needs at least one run")


def _resample(scores: Floats, rng: np.random.Generator) -> Floats:
    drawn: Floats = rng.choice(scores, size=len(scores), replace=True)
    return drawn


def _interval(drawn: Floats, confidence: float) -> Interval:
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(float(low), float(high))
