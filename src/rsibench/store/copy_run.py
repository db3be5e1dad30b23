"""Copies one run's rows from a store to another one, of whatever kind, byte for byte. Blobs are not part of it."""

from __future__ import annotations

from sqlalchemy import Table, select

from rsibench.errors import SpecError
from rsibench.store.runs import get_run
from rsibench.store.schema import ACCOUNTS, EVENTS, RESERVATIONS, RESERVED_AMOUNTS, RUNS
from rsibench.store.store import Store

_TABLES: tuple[Table, ...] = (RUNS, EVENTS, ACCOUNTS, RESERVATIONS, RESERVED_AMOUNTS)
"""In the order in which their foreign keys allow them to be filled."""


def copy_run(source: Store, target: Store, run_id: str) -> None:
    """Copies a run whole or not at all. Raises SpecError when `source` has none of that name, or `target` has one."""
    with source.reading() as reading:
        get_run(reading, run_id)
        rows = {
            table.name: [dict(row) for row in reading.execute(select(table).where(table.c.run_id == run_id)).mappings()]
            for table in _TABLES
        }
    with target.transaction(run_id) as writing:
        if writing.execute(select(RUNS.c.run_id).where(RUNS.c.run_id == run_id)).first() is not None:
            raise SpecError("there is a run of that name already", where=f"run {run_id}", fix="it was not touched")
        for table in _TABLES:
            if rows[table.name]:
                writing.execute(table.insert(), rows[table.name])
