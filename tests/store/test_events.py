"""Event rows: appended, read in order, and refused by the database itself when somebody wants to change one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError as DatabaseRefusal

from rsibench.errors import IntegrityError
from rsibench.store import events
from rsibench.store.rows import EventRow, RowHead
from rsibench.store.runs import RunRow, add_run
from rsibench.store.store import Store

RUN = RunRow("run-1", datetime(2030, 1, 1, tzinfo=UTC), "pocket", "full", "x", 1, "0" * 64)


def _row(seq: int, run_id: str = "run-1") -> EventRow:
    return EventRow(run_id, seq, "2030-01-01T00:00:00.000000Z", seq * 10, "a.b", b'{"n":1}', "0" * 64, f"{seq:064x}")


def _fill(store: Store, count: int) -> None:
    with store.transaction() as connection:
        add_run(connection, RUN)
        for seq in range(1, count + 1):
            events.insert_event(connection, _row(seq))


def test_rows_come_back_as_they_were_written_across_pages(store: Store) -> None:
    count = events.PAGE_ROWS + 5
    _fill(store, count)
    assert list(events.event_rows(store, "run-1")) == [_row(seq) for seq in range(1, count + 1)]
    assert [row.seq for row in events.event_rows(store, "run-1", after=count - 2)] == [count - 1, count]


def test_a_caller_may_write_while_it_reads(store: Store) -> None:
    _fill(store, 3)
    for row in events.event_rows(store, "run-1"):
        if row.seq == 1:
            with store.transaction() as connection:
                events.insert_event(connection, _row(4))
    with store.reading() as connection:
        assert events.last_event(connection, "run-1") == RowHead(4, 40, f"{4:064x}")


def test_the_last_event_of_a_run_without_events_is_none(store: Store) -> None:
    _fill(store, 0)
    with store.reading() as connection:
        assert events.last_event(connection, "run-1") is None
        assert events.hash_at(connection, "run-1", 1) is None


def test_an_event_needs_its_run_and_a_free_number(store: Store) -> None:
    _fill(store, 1)
    for row in (_row(1), _row(1, run_id="run-2"), _row(0)):
        with pytest.raises(DatabaseRefusal), store.transaction() as connection:
            events.insert_event(connection, row)
    assert list(events.event_rows(store, "run-1")) == [_row(1)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET body = '{}' WHERE seq = 1",
        "DELETE FROM events WHERE seq = 2",
        "REPLACE INTO events SELECT run_id, seq, at, 0, kind, body, previous_hash, hash FROM events WHERE seq = 1",
    ],
)
def test_any_connection_is_refused_to_change_an_event(sqlite_store: Store, tmp_path: Path, statement: str) -> None:
    _fill(sqlite_store, 2)
    with closing(sqlite3.connect(tmp_path / "rsibench.sqlite")) as other:
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            other.execute(statement)
        other.rollback()
    assert list(events.event_rows(sqlite_store, "run-1")) == [_row(1), _row(2)]


def test_a_row_that_the_database_cannot_decode_is_named(sqlite_store: Store, tmp_path: Path) -> None:
    _fill(sqlite_store, 3)
    with closing(sqlite3.connect(tmp_path / "rsibench.sqlite")) as vandal:
        vandal.execute("DROP TRIGGER events_no_update")
        vandal.execute("UPDATE events SET at = CAST(x'ff' AS TEXT) WHERE seq = 3")
        vandal.commit()
    rows = events.event_rows(sqlite_store, "run-1")
    assert [next(rows).seq, next(rows).seq] == [1, 2]
    with pytest.raises(IntegrityError, match="run run-1, the event after 2"):
        next(rows)
