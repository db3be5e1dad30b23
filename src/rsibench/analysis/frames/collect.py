"""Collects the runs of homes into frames, a few hundred at a time: memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import batched

import polars as pl

from rsibench.analysis.frames.run_rows import RunRows, TrialsBlob, run_rows
from rsibench.analysis.frames.schema import TRIALS, Frames, empty, frame
from rsibench.errors import IntegrityError
from rsibench.journal.journal import Journal
from rsibench.outcomes import TRIAL_RULES, TrialOutcome
from rsibench.ports.clock import SystemClock
from rsibench.run.archive import ArchivedRun, all_runs, open_store
from rsibench.run.home import Home
from rsibench.store.blobs import Blobs
from rsibench.store.runs import get_run

RUNS_AT_ONCE = 200
_COUNTING = [outcome.value for outcome, rule in TRIAL_RULES.items() if rule.counts]
_TRIAL_LINE: dict[str, pl.DataType | type[pl.DataType]] = {
    "item_id": pl.String,
    "family": pl.String,
    "template": pl.String,
    "decode": pl.Int32,
    "finish_reason": pl.String,
    "prompt_tokens": pl.Int64,
    "output_tokens": pl.Int64,
    "verdict": pl.Struct({"outcome": pl.String}),
}


def collect(home: Home, run_ids: Iterable[str] | None = None, *, at_once: int = RUNS_AT_ONCE) -> Iterator[Frames]:
    """Frames of the named runs, or of every run of a home, `at_once` runs in each.

    Raises SpecError for a run that is not there and IntegrityError for one that was damaged.
    """
    names = list(run_ids) if run_ids is not None else [one.run.run_id for one in all_runs(home)]
    for some in batched(names, at_once):
        yield _collected(home, some)


def gathered(parts: Iterable[Frames]) -> Frames:
    """Parts as one, for a number of runs that fits in memory."""
    known = list(parts)
    if not known:
        return empty()
    return Frames(*(pl.concat(list(tables)) for tables in zip(*known, strict=True)))


def _collected(home: Home, names: Sequence[str]) -> Frames:
    runs, attempts, costs, trials = [], [], [], []
    clock = SystemClock()
    with open_store(home) as store:
        blobs = Blobs(home.blobs)
        for name in names:
            with store.reading() as connection:
                get_run(connection, name)
            archived = ArchivedRun(name, home.run(name), Journal(store, name, clock), blobs)
            rows = run_rows(archived)
            trials.append(_trials(archived, rows))
            runs.append(rows.run)
            attempts += rows.attempts
            costs += rows.costs
    return Frames(frame("runs", runs), frame("attempts", attempts), pl.concat(trials), frame("costs", costs))


def _trials(run: ArchivedRun, rows: RunRows) -> pl.DataFrame:
    parts = [_parsed(run.blobs, one, run.run_id) for one in rows.trials]
    return pl.concat(parts) if parts else pl.DataFrame(schema=TRIALS)


def _parsed(blobs: Blobs, one: TrialsBlob, run_id: str) -> pl.DataFrame:
    """One blob's trials as rows; texts are not read."""
    data = blobs.get(one.blob)
    try:
        lines = pl.read_ndjson(data, schema=_TRIAL_LINE)
    except pl.exceptions.PolarsError as error:
        fix = "restore the blob"
        raise IntegrityError(f"trials cannot be read: {error}", where=f"blob {one.blob}", fix=fix) from error
    outcome = pl.col("verdict").struct.field("outcome")
    return lines.select(
        pl.lit(run_id).alias("run_id"),
        pl.lit(one.split.value).alias("split"),
        pl.lit(one.attempt, dtype=pl.Int32).alias("attempt"),
        "item_id",
        "family",
        "template",
        "decode",
        outcome.alias("outcome"),
        (outcome == TrialOutcome.PASS.value).alias("passed"),
        outcome.is_in(_COUNTING).alias("counts"),
        "finish_reason",
        "prompt_tokens",
        "output_tokens",
    )
