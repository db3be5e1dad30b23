"""Store: one database, opened once a process, with one kind of transaction for writing and one for reading.

Invariant: `transaction()` is all or nothing, also across several parts that each open one: within a thread an inner
transaction joins the outer one as a savepoint, so that a refused inner step can be caught and the outer one go on.
Not here: queries, which live beside the table they belong to (`events.py`, `accounts.py`, ...).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from rsibench.errors import EnvironmentFault
from rsibench.store import dialect
from rsibench.store.complaint import Trouble, fault_of, shown
from rsibench.store.migrate import migrate

RECONNECT_SECONDS = 30.0
"""How long a transaction that has not begun waits for a server that is away."""

_RECONNECT_PAUSE_SECONDS = 0.1
_OPENING = "store/open"


class Store:
    """A database. Safe to share between threads; every process opens its own. `url` is shown without its password."""

    def __init__(self, engine: Engine, backend: dialect.Backend, *, reconnect_seconds: float = 0.0) -> None:
        self._engine = engine
        self._backend = backend
        self._reconnect_seconds = reconnect_seconds
        self._writers = threading.Lock() if backend.single_writer else nullcontext()
        self._thread = threading.local()
        self.url = shown(engine.url.set(drivername=engine.url.get_backend_name()))

    @classmethod
    def open(cls, url: str, *, reconnect_seconds: float = RECONNECT_SECONDS) -> Self:
        """Opens `url` (`sqlite:///PATH` or `postgresql://USER@HOST/DATABASE`) and creates or migrates its tables.

        A SQLite file and its folder are created; a Postgres database must exist. A server that goes away later is
        waited for, up to `reconnect_seconds`, by transactions that have not begun. Raises EnvironmentFault for an
        unsupported URL, and for a database that cannot be reached or written, is damaged, belongs to another program
        or was written by a newer version.
        """
        backend, parsed = dialect.backend_of(url)
        store = cls(backend.make_engine(parsed), backend)
        try:
            with store.transaction(_OPENING) as connection:
                backend.check_writable(connection)
                migrate(connection, store.url)
        except BaseException:
            store.close()
            raise
        store._reconnect_seconds = reconnect_seconds
        return store

    def close(self) -> None:
        """Closes every pooled connection. A thread that is inside a transaction finishes it first."""
        self._engine.dispose()

    @contextmanager
    def transaction(self, scope: str | None = None) -> Iterator[Connection]:
        """A write transaction: committed and on disk when the block ends, rolled back when it raises.

        Transactions are serial, except that on Postgres two that name different scopes (a run, a lease) may go on at
        once. Re-entrant within a thread: an inner block is a savepoint of the outer one, and one that names no scope
        stays within the outer one's. Raises EnvironmentFault when the database cannot be written or somebody keeps it
        locked for 30 seconds, StoreUnreachable when a server went away; what was written is then whole or not there.
        """
        outer = self._current()
        if outer is not None:
            self._join(outer, scope)
            with _savepoint(outer):
                yield outer
            return
        with self._writers, self._translated():
            connection = self._begun(lambda fresh: self._begin_writing(fresh, scope))
            with connection:
                begun = connection.get_transaction()
                assert begun is not None  # noqa: S101 - `_begin_writing` has just begun it
                self._thread.connection = connection
                self._thread.scopes = {scope}
                try:
                    with begun:
                        yield connection
                finally:
                    self._thread.connection = None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A consistent view that never waits for a writer; inside this thread's transaction it sees its changes."""
        outer = self._current()
        if outer is not None:
            yield outer
            return
        with self._translated(), self._begun(self._backend.begin_reading) as connection:
            yield connection

    def _current(self) -> Connection | None:
        connection: Connection | None = getattr(self._thread, "connection", None)
        return connection

    def _begin_writing(self, connection: Connection, scope: str | None) -> Connection:
        connection.begin()
        self._backend.hold(connection, scope)
        return connection

    def _join(self, outer: Connection, scope: str | None) -> None:
        """Adds an inner block's scope to those that the outer transaction holds, until that one ends."""
        held: set[str | None] = self._thread.scopes
        if scope is not None and scope not in held and None not in held:
            self._backend.hold(outer, scope)
            held.add(scope)

    def _begun(self, begin: Callable[[Connection], Connection]) -> Connection:
        """A connection on which `begin` has succeeded; tried again while a server is away, as nothing was done yet."""
        deadline = time.monotonic() + self._reconnect_seconds
        while True:
            connection: Connection | None = None
            try:
                connection = self._engine.connect()
                return begin(connection)
            except BaseException as error:
                if connection is not None:
                    connection.close()
                if not self._is_lost(error) or time.monotonic() > deadline:
                    raise
            time.sleep(_RECONNECT_PAUSE_SECONDS)

    def _is_lost(self, error: BaseException) -> bool:
        complaint = self._backend.complaint(error) if isinstance(error, DBAPIError) else None
        return complaint is not None and complaint.trouble is Trouble.LOST

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turns the database's complaints about itself into EnvironmentFault; other errors pass as they are."""
        try:
            yield
        except DBAPIError as error:
            complaint = self._backend.complaint(error)
            if complaint is None:
                raise
            raise fault_of(complaint, self.url) from error
        except PoolTimeoutError as error:
            fix = "fewer threads should write at once; look for one that stands still inside a transaction"
            raise EnvironmentFault("every connection has been in use for too long", where=self.url, fix=fix) from error


@contextmanager
def _savepoint(connection: Connection) -> Iterator[None]:
    """A block that is undone alone when it raises. Sent as plain SQL, which costs a third of the library's own way."""
    connection.exec_driver_sql("SAVEPOINT inner_block")
    try:
        yield
    except BaseException:
        if not connection.invalidated:
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT inner_block")
            connection.exec_driver_sql("RELEASE SAVEPOINT inner_block")
        raise
    connection.exec_driver_sql("RELEASE SAVEPOINT inner_block")
