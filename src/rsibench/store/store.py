"""Store: one database, opened once a process, with one kind of transaction for writing and one for reading.

Invariant: `transaction()` is all or nothing, also across several parts that each open one: within a thread an inner
transaction joins the outer one as a savepoint, so that a refused inner step can be caught and the outer one go on.
Not here: queries, which live beside the table they belong to (`events.py`, `accounts.py`, ...).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError, OperationalError

from rsibench.errors import EnvironmentFault
from rsibench.store import dialect
from rsibench.store.migrate import migrate


class Store:
    """A database. Safe to share between threads; every process opens its own."""

    def __init__(self, engine: Engine, url: str) -> None:
        self._engine = engine
        self._writers: AbstractContextManager[object] = (
            threading.Lock() if dialect.one_writer(engine) else nullcontext()
        )
        self._thread = threading.local()
        self.url = dialect.shown(url)

    @classmethod
    def open(cls, url: str) -> Self:
        """Opens `url` (`sqlite:///PATH` or `postgresql://...`), creating what is missing and migrating what is older.

        Raises EnvironmentFault for an unsupported URL, and for a database that cannot be reached or written, is
        damaged, belongs to another program or was written by a newer version. No message shows a password.
        """
        store = cls(dialect.make_engine(url), url)
        try:
            with store.transaction() as connection:
                dialect.lock_migrations(connection)
                migrate(connection, store.url)
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Closes every pooled connection. A thread that is inside a transaction finishes it first."""
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A write transaction: committed and on disk when the block ends, rolled back when it raises.

        Re-entrant within a thread: an inner block is a savepoint of the outer one. Threads take turns. Raises
        EnvironmentFault when the file cannot be written or another process keeps it locked for 30 seconds.
        """
        outer = self._current()
        if outer is not None:
            with _savepoint(outer):
                yield outer
            return
        with self._writers, self._translated(), self._engine.begin() as connection:
            self._thread.connection = connection
            try:
                yield connection
            finally:
                self._thread.connection = None

    @contextmanager
    def changing(self, run_id: str) -> Iterator[Connection]:
        """A write transaction that no other writer of the run `run_id` can come between, on whatever machine."""
        with self.transaction() as connection:
            dialect.lock_run(connection, run_id)
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A consistent view that never waits for a writer; inside this thread's transaction it sees its changes."""
        outer = self._current()
        if outer is not None:
            yield outer
            return
        with self._translated(), self._engine.connect() as connection:
            yield dialect.read_only(connection)

    def _current(self) -> Connection | None:
        connection: Connection | None = getattr(self._thread, "connection", None)
        return connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turns the database's complaints about its file into EnvironmentFault; other errors pass as they are."""
        try:
            yield
        except DatabaseError as error:
            cause = str(error.orig).splitlines()[0]
            if dialect.is_not_a_database(error):
                fix = "restore it from a copy or choose another folder; it was not changed"
                raise EnvironmentFault(
                    f"the file is damaged or no database: {cause}", where=self.url, fix=fix
                ) from error
            if dialect.is_busy(error):
                fix = "stop the other process that holds it, or wait and try again"
                raise EnvironmentFault(f"another process keeps it locked: {cause}", where=self.url, fix=fix) from error
            if dialect.is_unwritable(error):
                fix = "give this user the right to write there"
                raise EnvironmentFault(f"it cannot be written: {cause}", where=self.url, fix=fix) from error
            if isinstance(error, OperationalError):
                fix = "check that it exists, can be reached and written, and has space"
                raise EnvironmentFault(f"it cannot be used: {cause}", where=self.url, fix=fix) from error
            raise


@contextmanager
def _savepoint(connection: Connection) -> Iterator[None]:
    """A block that is undone alone when it raises. Sent as plain SQL, which costs a third of the library's own way."""
    connection.exec_driver_sql("SAVEPOINT inner_block")
    try:
        yield
    except BaseException:
        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT inner_block")
        connection.exec_driver_sql("RELEASE SAVEPOINT inner_block")
        raise
    connection.exec_driver_sql("RELEASE SAVEPOINT inner_block")
