"""Writes the HTML page of a recorded run."""

from __future__ import annotations

from pathlib import Path

from rsibench.report.page import run_page
from rsibench.run.archive import open_archived, read_record
from rsibench.run.home import Home


def write_page(home: Home, run_id: str, out: Path | None = None) -> Path:
    """The page of a sealed run, by default in the run's folder. Returns where it was written."""
    with open_archived(home, run_id) as archived:
        record = read_record(archived)
    target = home.run(run_id).page if out is None else out
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(run_page(record), encoding="utf-8")
    return target
