"""A pass rate with its interval: the mean over tasks of the share of decodes that passed.

Single decodes get the Wilson interval. Repeated decodes get it too, at the effective number of trials that their spread
between tasks implies, because the bootstrap and the normal interval are poor near 0 and 1.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from scipy import special

from rsibench.analysis.bootstrap import DRAWS, bootstrap_interval
from rsibench.analysis.interval import CONFIDENCE, Interval
from rsibench.analysis.proportion import wilson
from rsibench.analysis.task_counts import TaskCounts


class RateMethod(StrEnum):
    """How an interval of a pass rate was made."""

    WILSON = "Wilson"
    """One counted decode a task."""
    WILSON_EFFECTIVE = "Wilson at the effective number of trials"
    """Several decodes a task."""


class PassRate(NamedTuple):
    """`rate` and `standard_error` are shares; `bootstrap` is a second opinion on `interval`, resampling whole tasks."""

    rate: float
    standard_error: float
    interval: Interval
    method: RateMethod
    bootstrap: Interval
    tasks: int
    trials: int
    effective_trials: float


def pass_rate(counts: TaskCounts, rng: np.random.Generator, draws: int = DRAWS) -> PassRate:
    """The pass rate of the tasks that have one. Raises ValueError when none has."""
    values = counts.rates()[counts.has_rate]
    tries = counts.counted[counts.has_rate]
    if len(values) == 0:
        raise ValueError("no trial counts, so there is no pass rate")
    rate, trials = float(values.mean()), int(tries.sum())
    single = bool(np.all(tries == 1))
    effective = float(trials) if single else effective_trials(counts)
    return PassRate(
        rate=rate,
        standard_error=clustered_standard_error(counts),
        interval=wilson(min(rate, 1.0) * effective, effective),
        method=RateMethod.WILSON if single else RateMethod.WILSON_EFFECTIVE,
        bootstrap=bootstrap_interval(values, rng, draws),
        tasks=len(values),
        trials=trials,
        effective_trials=effective,
    )


def clustered_standard_error(counts: TaskCounts) -> float:
    """Standard error of the mean of task rates with tasks as clusters; infinite for a single task.

    Miller (2024), arXiv:2411.00640, for clusters that weigh the same, with n - 1 below the root.
    """
    values = counts.rates()[counts.has_rate]
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")


def effective_trials(counts: TaskCounts, confidence: float = CONFIDENCE) -> float:
    """How many independent trials would have the same standard error, between 1 and the number of trials.

    p (1 - p) / SE^2, times (z / t)^2 for the tasks' few degrees of freedom: Korn and Graubard (1998), Survey
    Methodology 24, 193. Where no task differs from another the spread says nothing, and every task counts as one trial.
    """
    values = counts.rates()[counts.has_rate]
    rate, tasks = float(values.mean()), len(values)
    if tasks < 2:
        return 1.0
    error = clustered_standard_error(counts)
    if error == 0:
        return float(tasks)
    level = 0.5 + confidence / 2
    shrink = (special.ndtri(level) / special.stdtrit(tasks - 1, level)) ** 2
    trials = float(counts.counted.sum())
    return float(np.clip(rate * (1 - rate) / error**2 * shrink, 1.0, trials))
