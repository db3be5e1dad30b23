"""Which database a URL means, and what every database must be able to do for the store.

Nothing outside `sqlite.py` and `postgres.py` may hold SQL that only one database understands, so that another one is
another file beside them. Not here: tables, queries and migrations.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import URL, Connection, Engine, Table, make_url
from sqlalchemy.dialects import postgresql as postgresql_dialect
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.exc import ArgumentError, DBAPIError

from rsibench.errors import EnvironmentFault
from rsibench.store.complaint import Complaint, shown, shown_text
from rsibench.store.postgres import POSTGRES_SCHEME, Postgres
from rsibench.store.sqlite import SQLITE_SCHEME, Sqlite

SUPPORTED = "sqlite:///PATH or postgresql://USER@HOST/DATABASE"


class Backend(Protocol):
    """What the store asks of a database."""

    single_writer: bool
    """Whether threads of one process should take turns before they ask the database for its only write lock."""

    def make_engine(self, url: URL) -> Engine: ...

    def begin_reading(self, connection: Connection) -> Connection:
        """The connection with a snapshot, or one that takes it at its first query."""
        ...

    def hold(self, connection: Connection, scope: str | None) -> None:
        """Makes a transaction serial with all others, or with those that name the same scope or none."""
        ...

    def check_writable(self, connection: Connection) -> None: ...

    def append_only_triggers(self, table: str, key: tuple[str, ...]) -> tuple[str, ...]:
        """Statements that make `table` refuse updates, deletes and replacements, whoever connects."""
        ...

    def complaint(self, error: DBAPIError) -> Complaint | None:
        """What an error says about the database itself; None when it is about a statement."""
        ...


_BACKENDS: Mapping[str, Backend] = {SQLITE_SCHEME: Sqlite(), POSTGRES_SCHEME: Postgres()}


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file."""
    return f"{SQLITE_SCHEME}:///{path}"


def backend_of(url: str) -> tuple[Backend, URL]:
    """The database that `url` means. Raises EnvironmentFault for an unsupported URL, without its password."""
    try:
        parsed = make_url(url)
        name = parsed.get_backend_name()
    except (ArgumentError, ValueError) as error:
        where = repr(shown_text(url))
        raise EnvironmentFault("is not a database URL", where=where, fix=f"use {SUPPORTED}") from error
    backend = _BACKENDS.get(name)
    if backend is None:
        what, fix = f"databases of kind {parsed.drivername!r} are not supported", f"use {SUPPORTED}"
        raise EnvironmentFault(what, where=shown(parsed), fix=fix)
    return backend, parsed


def make_engine(url: str) -> Engine:
    """An engine for `url` with durable writes. Raises EnvironmentFault for an unsupported URL."""
    backend, parsed = backend_of(url)
    return backend.make_engine(parsed)


def append_only_triggers(database: str, table: str, key: tuple[str, ...]) -> tuple[str, ...]:
    """The statements of the database that SQLAlchemy calls `database`."""
    return _BACKENDS[database].append_only_triggers(table, key)


def insert_absent(connection: Connection, table: Table, values: Mapping[str, Any]) -> bool:
    """Adds a row unless one with its key stands already; whether it was added. Waits for others who add it too."""
    insert = sqlite_dialect.insert if connection.dialect.name == SQLITE_SCHEME else postgresql_dialect.insert
    return connection.execute(insert(table).values(values).on_conflict_do_nothing()).rowcount == 1
