"""What trials that do not count could hide: a rate's bounds when all of them had failed, and when all had passed.

No assumption is made about why they are missing (Manski, 1989, J. Human Resources 24, 343). The bounds are not an
interval; `with_sampling` widens them to one.
"""

from __future__ import annotations

import numpy as np

from rsibench.analysis.interval import Interval
from rsibench.analysis.pass_rate import effective_trials
from rsibench.analysis.proportion import wilson
from rsibench.analysis.task_counts import TaskCounts


def coverage_bounds(counts: TaskCounts) -> Interval:
    """Mean over tasks of the share of decodes that passed, with every uncounted decode failed, then passed."""
    low, high = _filled(counts)
    return Interval(float(low.rates().mean()), float(high.rates().mean()))


def with_sampling(counts: TaskCounts) -> Interval:
    """The bounds with sampling error: the lower bound's lower end and the upper bound's upper end, 95 % each.

    It covers the rate of all tasks with at least 95 % whatever the missing trials were (Horowitz and Manski, 2000,
    J. Am. Stat. Assoc. 95, 77).
    """
    low, high = _filled(counts)
    return Interval(_interval(low).low, _interval(high).high)


def coverage(counts: TaskCounts) -> float:
    """Share of the decodes asked for that count."""
    return float(counts.counted.sum() / counts.total.sum())


def _filled(counts: TaskCounts) -> tuple[TaskCounts, TaskCounts]:
    if len(counts.task_ids) == 0:
        raise ValueError("no task, so there are no bounds")
    missing = counts.total - counts.counted
    return (
        TaskCounts(counts.task_ids, counts.passed, counts.total, counts.total),
        TaskCounts(counts.task_ids, counts.passed + missing, counts.total, counts.total),
    )


def _interval(counts: TaskCounts) -> Interval:
    rate = float(counts.rates().mean())
    effective = float(counts.total.sum()) if np.all(counts.total == 1) else effective_trials(counts)
    return wilson(rate * effective, effective)
