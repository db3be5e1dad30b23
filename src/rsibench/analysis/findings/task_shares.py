"""Pass shares by task: the trials of runs as arrays, tasks in one order for all of them.

A task of which no decode counted is NaN; whoever compares takes the tasks that both sides have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from rsibench.analysis.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class TaskShares:
    """Rows are (run id, attempt); `shares` is (rows, tasks). Attempt 0 is the base student."""

    tasks: tuple[str, ...]
    index: dict[tuple[str, int], int]
    shares: Floats

    @classmethod
    def of(cls, trials: pl.DataFrame, split: str) -> TaskShares:
        """From a trials table of one protocol, in any order; its names may be text or categories."""
        mine = trials.filter(pl.col("split").cast(pl.String) == split)
        names = mine["item_id"].cast(pl.String) if mine["item_id"].dtype != pl.Categorical else mine["item_id"]
        tasks = tuple(names.unique().cast(pl.String).sort())
        columns = _places(names, tasks)
        blocks = mine.select(pl.struct("run_id", "attempt").rle_id().alias("block"), "run_id", "attempt")
        keys = blocks.unique("block", keep="first", maintain_order=True)
        owners = [(str(run_id), int(attempt)) for _, run_id, attempt in keys.iter_rows()]
        index = {key: row for row, key in enumerate(sorted(set(owners)))}
        row_of_block = np.array([index[key] for key in owners], dtype=np.int64)
        cells = row_of_block[blocks["block"].to_numpy()] * len(tasks) + columns if owners else columns
        size = len(index) * len(tasks)
        counts = mine["counts"].to_numpy()
        counted = np.bincount(cells[counts], minlength=size)
        passed = np.bincount(cells[counts & mine["passed"].to_numpy()], minlength=size)
        shares = np.divide(passed, counted, out=np.full(size, np.nan), where=counted > 0)
        return cls(tasks, index, shares.reshape(len(index), len(tasks)))

    def row(self, run_id: str, attempt: int) -> Floats | None:
        """(tasks,): shares of one checkpoint; None when it was not evaluated on this split."""
        place = self.index.get((run_id, attempt))
        return None if place is None else self.shares[place]


def complete(*sides: Floats) -> Bools:
    """(tasks,): whether every row of every side (rows, tasks) has a share."""
    known: Bools = np.logical_and.reduce([~np.isnan(side).any(axis=0) for side in sides])
    return known


def _places(names: pl.Series, tasks: tuple[str, ...]) -> Ints:
    """(rows,): the place of each row's task in `tasks`."""
    places: Ints = names.cast(pl.Enum(list(tasks))).to_physical().to_numpy().astype(np.int64)
    return places
