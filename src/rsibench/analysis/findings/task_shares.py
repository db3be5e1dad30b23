"""Pass shares by task: the trials of runs as arrays, tasks in one order for all of them.

A task of which no decode counted is NaN; whoever compares takes the tasks that both sides have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from rsibench.analysis.arrays import Bools, Floats


@dataclass(frozen=True, eq=False)
class TaskShares:
    """Rows are (run id, attempt); `shares` is (rows, tasks). Attempt 0 is the base student."""

    tasks: tuple[str, ...]
    index: dict[tuple[str, int], int]
    shares: Floats

    @classmethod
    def of(cls, trials: pl.DataFrame, split: str) -> TaskShares:
        """From a trials table of one protocol."""
        counted = pl.col("passed").filter(pl.col("counts"))
        wide = (
            trials.lazy()
            .filter(pl.col("split") == split)
            .group_by("run_id", "attempt", "item_id")
            .agg(counted.mean().alias("share"))
            .sort("run_id", "attempt", "item_id")
            .collect()
        )
        tasks = tuple(wide["item_id"].unique().sort())
        place = {name: column for column, name in enumerate(tasks)}
        keys = wide.select("run_id", "attempt").unique(maintain_order=True)
        index = {(str(run_id), int(attempt)): row for row, (run_id, attempt) in enumerate(keys.iter_rows())}
        shares = np.full((len(index), len(tasks)), np.nan)
        rows = wide.select(pl.struct("run_id", "attempt").rle_id().alias("row"))["row"].to_numpy()
        columns = wide["item_id"].replace_strict(place, return_dtype=pl.Int64).to_numpy() if tasks else rows
        shares[rows, columns] = wide["share"].fill_null(np.nan).to_numpy()
        return cls(tasks, index, shares)

    def row(self, run_id: str, attempt: int) -> Floats | None:
        """(tasks,): shares of one checkpoint; None when it was not evaluated on this split."""
        place = self.index.get((run_id, attempt))
        return None if place is None else self.shares[place]


def complete(*sides: Floats) -> Bools:
    """(tasks,): whether every row of every side (rows, tasks) has a share."""
    known: Bools = np.logical_and.reduce([~np.isnan(side).any(axis=0) for side in sides])
    return known
