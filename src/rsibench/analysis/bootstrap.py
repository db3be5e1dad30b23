"""The cluster bootstrap of a mean over tasks: whole tasks are drawn with replacement, so decodes never pose as tasks.

A resample of n tasks is a multinomial draw over their distinct values, which is the same distribution at a fraction of
the cost: tasks with few decodes have few distinct values.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from rsibench.analysis.arrays import Floats
from rsibench.analysis.interval import CONFIDENCE, Interval

DRAWS = 10_000
_CHUNK_CELLS = 2_000_000


def bootstrap_means(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """(draws,): means of resamples of `values` (n,), one value a task. Raises ValueError when there is none."""
    if len(values) == 0:
        raise ValueError("a bootstrap needs at least one task")
    distinct, counts = np.unique(values, return_counts=True)
    size = len(values)
    means = np.empty(draws)
    step = max(1, _CHUNK_CELLS // len(distinct))
    for start in range(0, draws, step):
        stop = min(start + step, draws)
        means[start:stop] = rng.multinomial(size, counts / size, size=stop - start) @ distinct / size
    return means


def bootstrap_interval(
    values: Floats, rng: np.random.Generator, draws: int = DRAWS, confidence: float = CONFIDENCE
) -> Interval:
    """Interval of the mean of `values` (n,) by the expanded percentile method.

    The tail that is cut off is Phi(-sqrt(n / (n - 1)) t) instead of Phi(-z), which repairs the percentile interval's
    narrowness in small samples: Hesterberg (2015), The American Statistician 69, 371. Where all tasks have
    one value nothing can be resampled and the interval has no width; callers say so or use another method.
    """
    tail = expanded_tail(len(values), confidence)
    low, high = np.quantile(bootstrap_means(values, draws, rng), [tail, 1 - tail])
    return Interval(float(low), float(high))


def expanded_tail(size: int, confidence: float = CONFIDENCE) -> float:
    """The share of a bootstrap distribution of `size` tasks to cut off on each side."""
    if size < 2:
        return 0.0
    t = special.stdtrit(size - 1, 0.5 + confidence / 2)
    return float(special.ndtr(-np.sqrt(size / (size - 1)) * t))
