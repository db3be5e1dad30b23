"""`rsibench report published`: the published results with intervals, and the headline rates beside chance."""

from __future__ import annotations

from json import dumps
from pathlib import Path

from rsibench.cli.output import console, print_json
from rsibench.errors import EnvironmentFault
from rsibench.report.published import published_csv, published_page
from rsibench.report.published_tables import chance_table, cost_text, matrix_table, separation_table
from rsibench.report.published_view import PublishedView, published_json, published_view
from rsibench.report.published_wording import ONE_RUN, below_base_text, leader_text, outcome_text


def published(*, out: Path | None = None, json: bool = False) -> None:
    """Print the published results beside chance; with a folder, also write the page, its numbers and the matrix.

    Parameters
    ----------
    out
        A folder for index.html, published.json and cells.csv; it is made when it does not exist.
    json
        Print the numbers as JSON.
    """
    if out is not None:
        _make(out)
    view = published_view()
    page = None if out is None else _write(view, out)
    if json:
        print_json(dict(published_json(view)))
        return
    screen = console()
    for text in (outcome_text(view), leader_text(view), below_base_text(view), cost_text(view), ONE_RUN):
        screen.print(text)
    for table in (matrix_table(view), separation_table(view), chance_table(view)):
        screen.print(table)
    if page is not None:
        screen.print(f"page: {page}", soft_wrap=True)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _write(view: PublishedView, folder: Path) -> Path:
    numbers = dumps(published_json(view), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    files = {"index.html": published_page(view), "published.json": numbers, "cells.csv": published_csv(view)}
    try:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise _unwritable(folder, error) from error
    return folder / "index.html"


def _unwritable(folder: Path, error: OSError) -> EnvironmentFault:
    return EnvironmentFault(
        f"the page cannot be written: {error.strerror}", where=str(folder), fix="give a folder you may write to"
    )
