"""Passed and counted decodes of each task: the form in which every estimator takes trials.

Invariant: task ids are unique and sorted, and 0 <= passed <= counted. A task of which nothing counted stays in the
list, so that coverage can be told; it has no rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rsibench.analysis.arrays import Bools, Floats, Ints
from rsibench.outcomes import TRIAL_RULES, TrialOutcome
from rsibench.spec.item import Trial


@dataclass(frozen=True, eq=False)
class TaskCounts:
    """`task_ids` (n,), `passed` (n,), `counted` (n,), `total` (n,): decodes that passed, count, and were asked for."""

    task_ids: tuple[str, ...]
    passed: Ints
    counted: Ints
    total: Ints

    @classmethod
    def of(cls, passed: ArrayLike, counted: ArrayLike, task_ids: Sequence[str] | None = None) -> TaskCounts:
        """From arrays (n,) in any order; tasks without ids are numbered. Raises ValueError when they do not fit."""
        hits = np.asarray(passed, dtype=np.int64)
        tries = np.broadcast_to(np.asarray(counted, dtype=np.int64), hits.shape)
        names = tuple(f"{number:08d}" for number in range(len(hits))) if task_ids is None else tuple(task_ids)
        if len(names) != len(hits) or len(set(names)) != len(names):
            raise ValueError(f"{len(hits)} tasks need as many different ids, got {len(set(names))}")
        if np.any(hits < 0) or np.any(hits > tries):
            raise ValueError("passed must lie between 0 and counted for every task")
        order = sorted(range(len(names)), key=names.__getitem__)
        return cls(tuple(names[index] for index in order), hits[order], tries[order], tries[order])

    @classmethod
    def of_trials(cls, trials: Iterable[Trial]) -> TaskCounts:
        """From trials; which of them count is the table of outcomes' decision."""
        tally: dict[str, list[int]] = {}
        for trial in trials:
            counts = tally.setdefault(trial.item_id, [0, 0, 0])
            outcome = trial.verdict.outcome
            counts[0] += outcome is TrialOutcome.PASS
            counts[1] += TRIAL_RULES[outcome].counts
            counts[2] += 1
        names = tuple(sorted(tally))
        table = np.array([tally[name] for name in names], dtype=np.int64).reshape(-1, 3)
        return cls(names, table[:, 0], table[:, 1], table[:, 2])

    @property
    def has_rate(self) -> Bools:
        """(n,): whether at least one decode of the task counted."""
        known: Bools = self.counted > 0
        return known

    def rates(self) -> Floats:
        """(n,): share of counted decodes that passed; NaN for a task of which nothing counted."""
        safe = np.where(self.counted > 0, self.counted, 1)
        return np.where(self.counted > 0, self.passed / safe, np.nan)
