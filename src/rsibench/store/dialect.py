"""Everything that is special to one database: how it is reached, how it begins, and which triggers it gets.

SQLite is the embedded store, PostgreSQL the one that several machines share. Nothing outside this file may hold SQL
that only one database understands. Not here: tables, queries and migrations.

SQLite has one writer at a time. On PostgreSQL writers of different runs work side by side, and writers of one run wait
for one another on the run's row (`lock_run`), which every change of a run takes first.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, OperationalError

from rsibench.errors import EnvironmentFault

SQLITE_SCHEME = "sqlite"
POSTGRES_SCHEME = "postgresql"
SUPPORTED = "sqlite:///PATH or postgresql://USER@HOST/DATABASE"
BUSY_TIMEOUT_SECONDS = 30.0
_WAL_RETRY_SECONDS = 0.01
_READ_ONLY = "rsibench_read_only"
_CONNECT_SECONDS = 10
_MIGRATION_LOCK = 0x7273_6962
_LOCK_RUN = text("SELECT 1 FROM runs WHERE run_id = :run FOR UPDATE")


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file."""
    return f"{SQLITE_SCHEME}:///{path}"


def make_engine(url: str) -> Engine:
    """An engine for `url` with durable, serialised writes. Raises EnvironmentFault for an unsupported URL."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise EnvironmentFault("is not a database URL", where="store", fix=f"use {SUPPORTED}") from error
    if parsed.get_backend_name() == POSTGRES_SCHEME:
        return _postgres_engine(parsed)
    if parsed.get_backend_name() != SQLITE_SCHEME:
        scheme = parsed.drivername
        raise EnvironmentFault(
            f"databases of kind {scheme!r} are not supported", where=shown(url), fix=f"use {SUPPORTED}"
        )
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


def shown(url: str) -> str:
    """The URL without its password, for messages."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "store"


def one_writer(engine: Engine) -> bool:
    """Whether the database lets one transaction write at a time, so that threads of a process had better take turns."""
    return engine.dialect.name == SQLITE_SCHEME


def read_only(connection: Connection) -> Connection:
    """Marks a connection whose transactions only read: one moment's view, which never waits for a writer."""
    marks: dict[str, Any] = {_READ_ONLY: True}
    if connection.dialect.name == POSTGRES_SCHEME:
        marks |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    return connection.execution_options(**marks)


def lock_run(connection: Connection, run_id: str) -> None:
    """Makes other writers of this run wait until the transaction ends. SQLite's transactions do so anyway."""
    if connection.dialect.name == POSTGRES_SCHEME:
        connection.execute(_LOCK_RUN, {"run": run_id})


def lock_migrations(connection: Connection) -> None:
    """Makes other openers of this database wait until the transaction ends."""
    if connection.dialect.name == POSTGRES_SCHEME:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})


def insert_unless_there(connection: Connection, table: Table, values: Mapping[str, object]) -> None:
    """Adds a row; where its key is taken already, by whomever and at whatever moment, nothing happens."""
    insert = postgresql.insert if connection.dialect.name == POSTGRES_SCHEME else sqlite.insert
    connection.execute(insert(table).values(**values).on_conflict_do_nothing())


def append_only_triggers(table: str, key: tuple[str, ...], dialect: str) -> tuple[str, ...]:
    """Statements that make `table` refuse updates, deletes and replacements, whoever connects."""
    if dialect == POSTGRES_SCHEME:
        refuse = f"refuse_{table}"
        return (
            f"CREATE FUNCTION {refuse}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{table} are append only'; END $$",
            f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {refuse}()",
            f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {refuse}()",
        )
    same_key = " AND ".join(f"{column} = NEW.{column}" for column in key)
    taken = f"EXISTS (SELECT 1 FROM {table} WHERE {same_key})"  # noqa: S608 - names are constants of ours
    refuse = f"BEGIN SELECT RAISE(ABORT, '{table} are append only'); END"
    return (
        f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} {refuse}",
        f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} {refuse}",
        # INSERT OR REPLACE deletes the old row without firing its delete trigger.
        f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {taken} {refuse}",
    )


def _postgres_engine(url: URL) -> Engine:
    """Connections are tried before they are used, so that a restart of the server costs no transaction."""
    if not url.database:
        raise EnvironmentFault(
            "it names no database", where=url.render_as_string(hide_password=True), fix=f"use {SUPPORTED}"
        )
    return create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args={
            "connect_timeout": _CONNECT_SECONDS,
            "application_name": "rsibench",
            # Whatever the server's default: somebody is told of a charge only when it is on its disk.
            "options": "-c synchronous_commit=on",
        },
        pool_pre_ping=True,
        pool_size=8,
        max_overflow=32,
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
    said = str(error).lower()
    return "not a database" in said or "malformed" in said or "file is encrypted" in said


def is_unwritable(error: Exception) -> bool:
    """Whether a server lets this user or this session only read."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    return state in ("25006", "42501")  # read-only transaction, insufficient privilege


def is_busy(error: Exception) -> bool:
    """Whether a writer elsewhere kept the lock for longer than the busy timeout."""
    return isinstance(error, OperationalError) and "locked" in str(error)
