"""Two researchers over several runs on the same tasks: a difference that holds for other tasks and other runs.

Runs and tasks are crossed: every run of a researcher meets every task. Resampling tasks alone would take a lucky run
for a good researcher, comparing run means alone would take easy tasks for skill; both spreads enter the error here.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from scipy import special

from rsibench.analysis.arrays import Floats
from rsibench.analysis.interval import CONFIDENCE, Interval


class CrossedDifference(NamedTuple):
    """`second` less `first`, shares. `run_sd` are standard deviations between runs beyond what tasks explain.

    One is None where a side has a single run: then the other side's runs, or nothing, speak for run-to-run spread, and
    the interval says less than it seems to.
    """

    difference: float
    interval: Interval
    p_value: float
    standard_error: float
    degrees_of_freedom: float
    run_sd: tuple[float | None, float | None]
    tasks: int


class _Part(NamedTuple):
    """A part of a variance, and how many degrees of freedom stand behind it."""

    variance: float
    degrees_of_freedom: float


def crossed_difference(first: Floats, second: Floats, confidence: float = CONFIDENCE) -> CrossedDifference:
    """From pass shares (runs, tasks) of the same tasks in the same order; a side with one fixed row (base) is fine.

    The variance is that of the tasks' mean differences over their number, plus each side's variance component between
    runs over its runs; components by the usual analysis of variance, (MS_runs - MS_residual) / tasks and at least 0,
    and degrees of freedom by Satterthwaite (1946), Biometrics Bulletin 2, 110. Raises ValueError below two tasks.
    """
    tasks = first.shape[1]
    if second.shape[1] != tasks or tasks < 2:
        raise ValueError(f"both sides need the same tasks, at least two, not {tasks} and {second.shape[1]}")
    by_task = second.mean(axis=0) - first.mean(axis=0)
    task_part = float(by_task.var(ddof=1)) / tasks
    components = [_between_runs(side) for side in (first, second)]
    parts = [_Part(task_part, tasks - 1.0)]
    for side, component in zip((first, second), components, strict=True):
        if component is not None and component.variance > 0:
            parts.append(_Part(component.variance / len(side), component.degrees_of_freedom))
    variance = sum(part.variance for part in parts)
    difference = float(by_task.mean())
    deviations = tuple(None if component is None else sqrt(component.variance) for component in components)
    run_sd = (deviations[0], deviations[1])
    if variance == 0:
        # Nothing differs anywhere: up to 3 / tasks of the tasks could (the rule of three) by a whole point each.
        bound = min(1.0, 3 / tasks)
        low, high = max(-1.0, difference - bound), min(1.0, difference + bound)
        return CrossedDifference(
            difference, Interval(low, high), float(difference == 0), 0.0, tasks - 1.0, run_sd, tasks
        )
    freedom = variance**2 / sum(part.variance**2 / part.degrees_of_freedom for part in parts)
    error = sqrt(variance)
    t = float(special.stdtrit(freedom, 0.5 + confidence / 2))
    interval = Interval(max(-1.0, difference - t * error), min(1.0, difference + t * error))
    p_value = float(2 * special.stdtr(freedom, -abs(difference) / error))
    return CrossedDifference(difference, interval, p_value, error, freedom, run_sd, tasks)


def _between_runs(side: Floats) -> _Part | None:
    """Variance component between runs (runs, tasks) and its degrees of freedom; None for a single run."""
    runs, tasks = side.shape
    if runs < 2:
        return None
    run_means, task_means = side.mean(axis=1), side.mean(axis=0)
    residual = side - run_means[:, None] - task_means[None, :] + side.mean()
    square_runs = tasks * float(run_means.var(ddof=1))
    residual_freedom = (runs - 1) * (tasks - 1)
    square_residual = float((residual**2).sum()) / residual_freedom
    excess = square_runs - square_residual
    if excess <= 0:
        return _Part(0.0, runs - 1.0)
    freedom = excess**2 / (square_runs**2 / (runs - 1) + square_residual**2 / residual_freedom)
    return _Part(excess / tasks, freedom)
