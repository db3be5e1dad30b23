"""SQLite as the store's database: one file, one writer at a time, readers that never wait.

Invariant: a commit is on disk when it returns. Not here: tables, queries and migrations, which are the same for every
database.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, OperationalError

from rsibench.errors import EnvironmentFault
from rsibench.store.complaint import Complaint, Trouble, shown

SQLITE_SCHEME = "sqlite"
BUSY_TIMEOUT_SECONDS = 30.0
_FORM = "sqlite:///PATH"
_POOL_SIZE = 48
_WAL_RETRY_SECONDS = 0.01
_READ_ONLY = "rsibench_read_only"


class Sqlite:
    """The embedded database."""

    single_writer = True

    def make_engine(self, url: URL) -> Engine:
        """An engine with durable, serialised writes; makes the file's folder."""
        if not url.database or url.database == ":memory:":
            where, fix = shown(url), f"use {_FORM}"
            raise EnvironmentFault("a store needs a file that outlives the process", where=where, fix=fix)
        _make_folder(Path(url.database), shown(url))
        engine = create_engine(
            url.set(drivername="sqlite+pysqlite"),
            connect_args={"timeout": BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
            # A connection over the pool's size is opened and closed for every use, which costs more than most queries.
            pool_size=_POOL_SIZE,
            max_overflow=_POOL_SIZE,
        )
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
        return engine

    def begin_reading(self, connection: Connection) -> Connection:
        """Marks a connection whose transactions only read, so that they never wait for a writer."""
        return connection.execution_options(**{_READ_ONLY: True})

    def hold(self, connection: Connection, scope: str | None) -> None:
        """Nothing to do: BEGIN IMMEDIATE has taken the one write lock already."""

    def check_writable(self, connection: Connection) -> None:
        """Nothing to do, for the same reason."""

    def append_only_triggers(self, table: str, key: tuple[str, ...]) -> tuple[str, ...]:
        """Triggers against updates, deletes and replacements."""
        same_key = " AND ".join(f"{column} = NEW.{column}" for column in key)
        taken = f"EXISTS (SELECT 1 FROM {table} WHERE {same_key})"  # noqa: S608 - names are constants of ours
        refuse = f"BEGIN SELECT RAISE(ABORT, '{table} are append only'); END"
        return (
            f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} {refuse}",
            f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} {refuse}",
            # INSERT OR REPLACE deletes the old row without firing its delete trigger.
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {taken} {refuse}",
        )

    def complaint(self, error: DBAPIError) -> Complaint | None:
        """What SQLite says about its file."""
        cause = str(error.orig)
        text = cause.lower()
        if "not a database" in text or "malformed" in text or "file is encrypted" in text:
            fix = "restore it from a copy or choose another folder; it was not changed"
            return Complaint(Trouble.DAMAGED, f"the file is damaged or no database: {cause}", fix)
        if not isinstance(error, OperationalError):
            return None
        if "locked" in text:
            fix = "stop the other process that holds it, or wait and try again"
            return Complaint(Trouble.BUSY, f"another process keeps it locked: {cause}", fix)
        fix = "check that the folder exists, can be written and has space"
        return Complaint(Trouble.UNUSABLE, f"it cannot be used: {cause}", fix)


def _make_folder(path: Path, where: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "choose a folder that can be written"
        raise EnvironmentFault(f"its folder cannot be made: {error.strerror}", where=where, fix=fix) from error


def _on_connect(dbapi: sqlite3.Connection, _record: Any) -> None:
    # Transactions are begun by `_on_begin`, not by the driver, which would begin them too late and deferred.
    dbapi.isolation_level = None
    cursor = dbapi.cursor()
    _switch_to_wal(cursor)
    # FULL, because in WAL mode NORMAL may lose the last commits at a power cut: a settled charge or a scored attempt
    # would be forgotten although somebody was told about it.
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _switch_to_wal(cursor: sqlite3.Cursor) -> None:
    """Sets WAL mode. SQLite's busy timeout does not cover this switch, so that several first openers wait here."""
    deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(_WAL_RETRY_SECONDS)


def _on_begin(connection: Connection) -> None:
    # A deferred transaction that reads first and writes later fails at once when another writer came between;
    # IMMEDIATE takes the write lock at the start and waits for it.
    reads = connection.get_execution_options().get(_READ_ONLY, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
