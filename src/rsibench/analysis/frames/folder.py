"""Frames on disk: a folder with one subfolder a table, Parquet parts in it, and the version of their columns."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import polars as pl

from rsibench.analysis.frames.schema import TABLES, VERSION, Frames
from rsibench.errors import EnvironmentFault, SpecError

_VERSION_FILE = "frames.json"


class LazyFrames(NamedTuple):
    """The four tables, read when they are asked for something."""

    runs: pl.LazyFrame
    attempts: pl.LazyFrame
    trials: pl.LazyFrame
    costs: pl.LazyFrame


def write_frames(parts: Iterable[Frames], folder: Path) -> int:
    """Writes parts as they come into a new folder, whole or not at all. Returns the number of runs.

    Raises SpecError when the folder is there already and EnvironmentFault when it cannot be written.
    """
    if folder.exists():
        raise SpecError("it exists already", where=str(folder), fix="name a new folder, or remove this one")
    partial = folder.with_name(f".{folder.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        for name in TABLES:
            (partial / name).mkdir(parents=True)
        runs = 0
        for number, part in enumerate(parts):
            for name, table in zip(Frames._fields, part, strict=True):
                table.write_parquet(partial / name / f"part-{number:05d}.parquet")
            runs += part.runs.height
        (partial / _VERSION_FILE).write_text(json.dumps({"version": VERSION, "runs": runs}) + "\n", encoding="utf-8")
        partial.rename(folder)
    except OSError as error:
        fix = "choose a folder that can be written and has space"
        raise EnvironmentFault(f"cannot be written: {error.strerror}", where=str(folder), fix=fix) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return runs


def read_frames(folder: Path) -> LazyFrames:
    """The frames of a folder. Raises SpecError when it holds none, or of another version."""
    try:
        known = json.loads((folder / _VERSION_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        fix = "write frames with `rsibench frames --out DIR`"
        raise SpecError("it holds no frames", where=str(folder), fix=fix) from error
    if known.get("version") != VERSION:
        raise SpecError(
            f"its frames have version {known.get('version')}, this program reads version {VERSION}",
            where=str(folder),
            fix="write them again from the runs",
        )
    return LazyFrames(*(_scan(folder / name, name) for name in Frames._fields))


def frames_for_findings(lazy: LazyFrames) -> Frames:
    """The tables in memory with what findings need of the trials, repeated names held once: a tenth of the whole."""
    names = [pl.col(name).cast(pl.Categorical) for name in ("run_id", "split", "item_id")]
    trials = lazy.trials.select(*names, "attempt", "decode", "passed", "counts")
    return Frames(lazy.runs.collect(), lazy.attempts.collect(), trials.collect(), lazy.costs.collect())


def _scan(folder: Path, name: str) -> pl.LazyFrame:
    if not any(folder.glob("*.parquet")):
        return pl.LazyFrame(schema=TABLES[name])
    return pl.scan_parquet(folder / "*.parquet")
