"""Everything that is special to one database: how it is reached, how it begins, and which triggers it gets.

SQLite is the embedded store. Nothing outside this file may hold SQL that only one database understands, so that another
one is a second branch here. Not here: tables, queries and migrations.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from rsibench.errors import EnvironmentFault

SQLITE_SCHEME = "sqlite"
SUPPORTED = "sqlite:///PATH"
BUSY_TIMEOUT_SECONDS = 30.0
_WAL_RETRY_SECONDS = 0.01
_READ_ONLY = "rsibench_read_only"


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file."""
    return f"{SQLITE_SCHEME}:///{path}"


def make_engine(url: str) -> Engine:
    """An engine for `url` with durable, serialised writes. Raises EnvironmentFault for an unsupported URL."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise EnvironmentFault("is not a database URL", where=repr(url), fix=f"use {SUPPORTED}") from error
    if parsed.get_backend_name() != SQLITE_SCHEME:
        scheme = parsed.drivername
        raise EnvironmentFault(f"databases of kind {scheme!r} are not supported", where=url, fix=f"use {SUPPORTED}")
    if not parsed.database or parsed.database == ":memory:":
        raise EnvironmentFault("a store needs a file that outlives the process", where=url, fix=f"use {SUPPORTED}")
    _make_folder(Path(parsed.database), url)
    engine = create_engine(
        parsed.set(drivername="sqlite+pysqlite"),
        connect_args={"timeout": BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
        pool_size=8,
        max_overflow=32,
    )
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def read_only(connection: Connection) -> Connection:
    """Marks a connection whose transactions only read, so that they never wait for a writer."""
    return connection.execution_options(**{_READ_ONLY: True})


def append_only_triggers(table: str, key: tuple[str, ...]) -> tuple[str, ...]:
    """Statements that make `table` refuse updates, deletes and replacements, whoever connects."""
    same_key = " AND ".join(f"{column} = NEW.{column}" for column in key)
    taken = f"EXISTS (SELECT 1 FROM {table} WHERE {same_key})"  # noqa: S608 - names are constants of ours
    refuse = f"BEGIN SELECT RAISE(ABORT, '{table} are append only'); END"
    return (
        f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} {refuse}",
        f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} {refuse}",
        # INSERT OR REPLACE deletes the old row without firing its delete trigger.
        f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {taken} {refuse}",
    )


def _make_folder(path: Path, url: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "choose a folder that can be written"
        raise EnvironmentFault(f"its folder cannot be made: {error.strerror}", where=url, fix=fix) from error


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


def is_not_a_database(error: Exception) -> bool:
    """Whether the database says that its file is damaged or is something else altogether."""
    text = str(error).lower()
    return "not a database" in text or "malformed" in text or "file is encrypted" in text


def is_busy(error: Exception) -> bool:
    """Whether a writer elsewhere kept the lock for longer than the busy timeout."""
    return isinstance(error, OperationalError) and "locked" in str(error)
