"""`rsibench researchers list`: who can improve the data."""

from __future__ import annotations

from rich.table import Table

from rsibench.cli.output import console, print_json
from rsibench.researchers.catalogue import SCRIPTED


def list_researchers(*, json: bool = False) -> None:
    """Names of the researchers and what each does."""
    if json:
        print_json([{"name": name, "kind": "scripted", "what": what} for name, what in SCRIPTED.items()])
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("researcher", "kind", "what it does"):
        table.add_column(heading)
    for name, what in SCRIPTED.items():
        table.add_row(name, "scripted", what)
    console().print(table)
