"""Selection optimism: the best of several measured scores is too high, because luck helped to choose it.

Two corrections. With trials: choose on one half of the tasks and score on the other, over and over. Without: shrink the
scores towards their mean by the share of their spread that measurement explains. Both correct the selection score; a
held-out official score needs neither.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from rsibench.analysis.arrays import Floats
from rsibench.analysis.interval import CONFIDENCE, Interval

SPLITS = 1_000


class CorrectedScore(NamedTuple):
    """Shares. `optimism` is `naive` minus `corrected`; `chosen` is the index of the naive best, the earliest at
    ties.
    """

    naive: float
    corrected: float
    optimism: float
    chosen: int
    method: str


def split_corrected(rates: Floats, rng: np.random.Generator, splits: int = SPLITS) -> CorrectedScore:
    """From task rates (attempts, tasks) of the same tasks, by repeated random halves.

    Half the tasks choose the attempt (the earliest at ties), the other half score it, and the mean over splits
    estimates what choosing by this rule is worth: repeated split selection after SIREN, arXiv:2605.05973. It is
    slightly low, since half the tasks choose less well than all of them.
    """
    attempts, tasks = rates.shape
    if tasks < 2:
        raise ValueError("a split needs at least two tasks")
    half = tasks // 2
    total = rates.sum(axis=1)
    chooses = np.argsort(rng.random((splits, tasks)), axis=1) < half
    for_choice = chooses.astype(np.float64) @ rates.T
    chosen = np.argmax(np.round(for_choice, 9), axis=1)
    scored = (total[chosen] - for_choice[np.arange(splits), chosen]) / (tasks - half)
    naive_rates = rates.mean(axis=1)
    best = int(np.argmax(np.round(naive_rates, 9)))
    naive, corrected = float(naive_rates[best]), float(scored.mean())
    if attempts == 1:
        corrected = naive
    return CorrectedScore(naive, corrected, naive - corrected, best, f"{splits} random halves of {tasks} tasks")


def shrunken(scores: Floats, variances: Floats) -> CorrectedScore:
    """From scores (attempts,) and their sampling variances alone, by empirical Bayes shrinkage to their mean.

    The spread of true scores is the observed variance less the mean sampling variance, not below 0 (Efron and Morris,
    1975, J. Am. Stat. Assoc. 70, 311). Scores of the same tasks share part of their error: give variances without it.
    """
    best = int(np.argmax(scores))
    naive = float(scores[best])
    if len(scores) < 2:
        return CorrectedScore(naive, naive, 0.0, best, "one attempt, nothing to correct")
    centre = float(scores.mean())
    between = max(0.0, float(scores.var(ddof=1) - variances.mean()))
    spread = between + float(variances[best])
    kept = between / spread if spread > 0 else 1.0
    corrected = centre + kept * (naive - centre)
    return CorrectedScore(naive, corrected, naive - corrected, best, f"shrinkage that keeps {kept:.0%} of the spread")


def expected_best_of(attempts: int, rate: float, trials: int) -> float:
    """How far the best of `attempts` equally good ones is above their rate, exactly; a share.

    The mean of the largest of independent binomial counts is the sum over k of 1 - F(k)^T.
    """
    below = special.bdtr(np.arange(trials, dtype=np.float64), trials, rate)
    return float((1 - below**attempts).sum() / trials - rate)


def bootstrap_optimism(
    rates: Floats, rng: np.random.Generator, draws: int = SPLITS, confidence: float = CONFIDENCE
) -> tuple[float, Interval]:
    """Mean and range, over resamples of the tasks, of how far the resample's best attempt falls back on the real tasks.

    `rates` is (attempts, tasks). This is Efron's optimism (1983, J. Am. Stat. Assoc. 78, 316) of the maximum: what the
    bootstrap world's winner shows above its own score in the data it was resampled from.
    """
    attempts, tasks = rates.shape
    weights = rng.multinomial(tasks, np.full(tasks, 1 / tasks), size=draws) / tasks
    resampled = weights @ rates.T
    chosen = np.argmax(resampled, axis=1)
    gaps = resampled[np.arange(draws), chosen] - rates.mean(axis=1)[chosen]
    tail = (1 - confidence) / 2
    low, high = np.quantile(gaps, [tail, 1 - tail])
    return (0.0 if attempts == 1 else float(gaps.mean())), Interval(float(low), float(high))
