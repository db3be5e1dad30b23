"""`rsibench frames`: recorded runs as Parquet tables, for any analysis that this program does not offer."""

from __future__ import annotations

from pathlib import Path

from rsibench.analysis.frames.collect import collect
from rsibench.analysis.frames.folder import write_frames
from rsibench.analysis.frames.schema import TABLES, VERSION
from rsibench.cli.here import here
from rsibench.cli.output import console, print_json


def frames(*run: str, out: Path, json: bool = False) -> None:
    """Write runs, attempts, trials and costs as Parquet.

    Parameters
    ----------
    run
        Names of runs; every run when none is named.
    out
        A new folder for the tables.
    json
        Print what was written as JSON.
    """
    written = write_frames(collect(here(), list(run) or None), out)
    if json:
        print_json({"folder": str(out.resolve()), "version": VERSION, "runs": written, "tables": list(TABLES)})
    else:
        console().print(f"{written} runs in {out}: {', '.join(TABLES)}", markup=False, soft_wrap=True)
