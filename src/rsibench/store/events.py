"""Rows of the events table, as they are stored: appended and read in order, never changed, never interpreted.

A row read back may be damaged in any way; it is handed on as it is, for the journal to judge.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.exc import DatabaseError

from rsibench.errors import EnvironmentFault, IntegrityError
from rsibench.store.complaint import StoreUnreachable
from rsibench.store.rows import EventRow, RowHead
from rsibench.store.schema import EVENTS
from rsibench.store.store import Store

PAGE_ROWS = 1_000


_COLUMNS = tuple(EVENTS.c[name] for name in EventRow._fields)
_INSERT = EVENTS.insert().values({name: bindparam(name) for name in EventRow._fields})
_HEAD = (
    select(EVENTS.c.seq, EVENTS.c.elapsed_ms, EVENTS.c.hash)
    .where(EVENTS.c.run_id == bindparam("run"))
    .order_by(EVENTS.c.seq.desc())
    .limit(1)
)
_PAGE = (
    select(*_COLUMNS)
    .where(EVENTS.c.run_id == bindparam("run"), EVENTS.c.seq > bindparam("after"))
    .order_by(EVENTS.c.seq)
    .limit(bindparam("rows"))
)
_HASH_AT = select(EVENTS.c.hash).where(EVENTS.c.run_id == bindparam("run"), EVENTS.c.seq == bindparam("at_seq"))


def insert_event(connection: Connection, row: EventRow) -> None:
    """Adds a row. The database refuses a number that is taken."""
    connection.execute(_INSERT, row._asdict())


def last_event(connection: Connection, run_id: str) -> RowHead | None:
    """The last row's number, time and hash; None before the first event."""
    row = connection.execute(_HEAD, {"run": run_id}).one_or_none()
    return None if row is None else RowHead(row.seq, row.elapsed_ms, row.hash)


def hash_at(connection: Connection, run_id: str, seq: int) -> str | None:
    """The hash of event `seq`, None where there is no such event."""
    found: str | None = connection.execute(_HASH_AT, {"run": run_id, "at_seq": seq}).scalar_one_or_none()
    return found


def event_rows(store: Store, run_id: str, after: int = 0) -> Iterator[EventRow]:
    """Rows after number `after`, in order, read in pages so that no transaction stays open while the caller works.

    Raises IntegrityError naming the first row that the database itself cannot read.
    """
    while page := _read_page(store, run_id, after, PAGE_ROWS):
        yield from page
        after = page[-1].seq


def _read_page(store: Store, run_id: str, after: int, rows: int) -> list[EventRow]:
    try:
        with store.reading() as connection:
            found = connection.execute(_PAGE, {"run": run_id, "after": after, "rows": rows})
            return [EventRow._make(row) for row in found]
    except StoreUnreachable:
        raise
    except (EnvironmentFault, DatabaseError) as error:
        if rows > 1:  # one row at a time: the good ones before the damage still come out
            return _read_page(store, run_id, after, 1)
        where = f"run {run_id}, the event after {after}"
        fix = "the file was changed or damaged; compare it with a copy"
        raise IntegrityError(f"the database cannot read it: {error}", where=where, fix=fix) from error
