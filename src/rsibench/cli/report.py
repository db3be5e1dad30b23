"""`rsibench report RUN`: writes the page of a run and prints its result."""

from __future__ import annotations

from pathlib import Path

from rsibench.cli.output import console, print_json
from rsibench.cli.page import write_page
from rsibench.cli.published import published
from rsibench.cli.run import show_result
from rsibench.run.archive import open_archived, read_record
from rsibench.run.home import Home
from rsibench.spec.settings import runs_home

PUBLISHED = "published"


def report(run: str, *, out: Path | None = None, json: bool = False) -> None:
    """Write the self-contained HTML page of a run and print its result.

    Parameters
    ----------
    run
        The run's name, or `published` for the benchmark's published results, read again.
    out
        Where to write: for a run the page's file, by default in the run's folder; for `published` a folder.
    json
        Print the result as JSON.
    """
    if run == PUBLISHED:
        published(out=out, json=json)
        return
    home = Home(runs_home())
    page = write_page(home, run, out)
    with open_archived(home, run) as archived:
        result = read_record(archived).result
    if json:
        print_json(result)
    else:
        show_result(result, console(), page)
