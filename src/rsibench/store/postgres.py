"""Postgres as the store's database: one server for many machines; writers of different runs do not wait for each other.

Invariant: two transactions are serial unless both name different scopes. Each takes an advisory lock as its first
statement: a named one its scope's lock and a shared one on the whole store, an unnamed one the whole store. Every later
statement sees what was committed before the lock was had (READ COMMITTED), so that nobody decides on what another
is about to change; and because the lock comes before any row, transactions cannot deadlock over rows. The locks go
with the transaction, whatever ends it. Not here: tables, queries and migrations.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError

from rsibench.errors import EnvironmentFault
from rsibench.store.complaint import Complaint, Trouble, shown

POSTGRES_SCHEME = "postgresql"
CONNECT_TIMEOUT_SECONDS = 10
LOCK_TIMEOUT_SECONDS = 30
IDLE_IN_TRANSACTION_SECONDS = 120
"""A process that is frozen inside a transaction loses it after this time, and with it the locks of its run."""

_POOL_SIZE = 16
"""Connections of one process, kept open. More threads than this wait for one; a server has about 100 for everybody."""

# Whatever the server's defaults are: a commit is on disk when it returns, and a machine that vanished is noticed.
_SESSION = (
    "SET synchronous_commit = on; "
    f"SET lock_timeout = '{LOCK_TIMEOUT_SECONDS}s'; "
    f"SET idle_in_transaction_session_timeout = '{IDLE_IN_TRANSACTION_SECONDS}s'; "
    "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
)


def _lock_number(name: str) -> int:
    """A lock's 64-bit number. Two scopes that share one would only wait for each other."""
    return int.from_bytes(hashlib.sha256(f"rsibench.store/{name}".encode()).digest()[:8], signed=True)


_WHOLE_STORE = _lock_number("")
_HOLD_STORE = text(f"SELECT pg_advisory_xact_lock({_WHOLE_STORE})")
_HOLD_SCOPE = text(f"SELECT pg_advisory_xact_lock_shared({_WHOLE_STORE}), pg_advisory_xact_lock(:number)")
_MAY_WRITE = text("SELECT current_setting('transaction_read_only')")

_READ_ONLY = Complaint(Trouble.UNUSABLE, "the database is read only", "connect to a server that takes writes")
_BUSY_FIX = "wait and try again; look for a process that holds a transaction open (pg_stat_activity)"
_COMPLAINTS = {
    "25006": _READ_ONLY,
    "25P03": Complaint(Trouble.LOST, "the server ended a transaction that stood still for too long", "try again"),
    "28P01": Complaint(Trouble.UNUSABLE, "the server refuses the user or password", "correct the URL"),
    "3D000": Complaint(Trouble.UNUSABLE, "there is no such database", "create it with createdb, or correct the URL"),
    "3F000": Complaint(Trouble.UNUSABLE, "there is no such schema", "create it, or correct search_path in the URL"),
    "40001": Complaint(Trouble.BUSY, "another transaction came first", "try again"),
    "40P01": Complaint(Trouble.BUSY, "two transactions waited for each other", "try again"),
    "42501": Complaint(Trouble.UNUSABLE, "the user may not do this", "grant the user rights on database and schema"),
    "53100": Complaint(Trouble.UNUSABLE, "the server's disk is full", "make space there; nothing of this was kept"),
    "53300": Complaint(Trouble.LOST, "the server has no connection left", "raise max_connections or run less at once"),
    "55P03": Complaint(Trouble.BUSY, "another process keeps it locked", _BUSY_FIX),
    "57014": Complaint(Trouble.BUSY, "the server cancelled a statement", _BUSY_FIX),
    "XX001": Complaint(Trouble.DAMAGED, "the server reports damaged data", "restore the database from a copy"),
    "XX002": Complaint(Trouble.DAMAGED, "the server reports a damaged index", "restore the database from a copy"),
}
_AWAY = "check that the server runs and can be reached; what was being written is there whole or not at all"
_LOST_STATES = ("08", "57P")
_STORAGE_STATES = ("53", "58")
_CONNECTING = (
    # A refused connection has no code, only the server's words.
    (re.compile(r"password authentication failed|no password supplied|no pg_hba\.conf entry"), "28P01"),
    (re.compile(r'role ".*" (does not exist|is not permitted)'), "28P01"),
    (re.compile(r'database ".*" does not exist'), "3D000"),
    (re.compile(r"permission denied for database|not currently accepting connections"), "42501"),
)


class Postgres:
    """The shared database, reached through psycopg."""

    single_writer = False

    def make_engine(self, url: URL) -> Engine:
        """An engine whose sessions commit durably. Connects to nothing yet."""
        if not url.database:
            fix = "use postgresql://USER@HOST/DATABASE"
            raise EnvironmentFault("the URL names no database", where=shown(url), fix=fix)
        try:
            engine = create_engine(
                url.set(drivername="postgresql+psycopg"),
                connect_args={"connect_timeout": CONNECT_TIMEOUT_SECONDS, "application_name": "rsibench"},
                isolation_level="READ COMMITTED",
                pool_size=_POOL_SIZE,
                max_overflow=0,
            )
        except ImportError as error:
            fix = "pip install 'psycopg[binary]'"
            raise EnvironmentFault(f"its driver cannot be loaded: {error}", where=shown(url), fix=fix) from error
        event.listen(engine, "connect", _on_connect)
        return engine

    def begin_reading(self, connection: Connection) -> Connection:
        """Begins a snapshot that sees nothing later and never waits for a writer."""
        reader = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        reader.exec_driver_sql("SELECT 1")  # a lost connection shows here, where it is safe to begin again
        return reader

    def hold(self, connection: Connection, scope: str | None) -> None:
        """Waits until this transaction is serial with every other that could touch the same scope."""
        if scope is None:
            connection.execute(_HOLD_STORE)
        else:
            connection.execute(_HOLD_SCOPE, {"number": _lock_number(scope)})

    def check_writable(self, connection: Connection) -> None:
        """Raises EnvironmentFault for a standby server or a database that was set read only."""
        if connection.execute(_MAY_WRITE).scalar() == "on":
            where = shown(connection.engine.url)
            raise EnvironmentFault(_READ_ONLY.what, where=where, fix=_READ_ONLY.fix)

    def append_only_triggers(self, table: str, key: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG002 - by protocol
        """Triggers against updates, deletes and truncation; a replacement is an update here."""
        refuse = f"RAISE EXCEPTION '{table} are append only' USING ERRCODE = 'integrity_constraint_violation'"
        function = f"{table}_append_only"
        return (
            f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {refuse}; END $$",
            f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {function}()",
            f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {function}()",
        )

    def complaint(self, error: DBAPIError) -> Complaint | None:
        """What the server, or the way to it, says."""
        cause = " ".join(str(error.orig).split())
        state: str | None = getattr(error.orig, "sqlstate", None)
        if state is None and isinstance(error, OperationalError) and not error.connection_invalidated:
            state = next((code for words, code in _CONNECTING if words.search(cause)), None)
        known = _COMPLAINTS.get(state or "")
        if known is not None:
            return known._replace(what=f"{known.what}: {cause}")
        if error.connection_invalidated or (state or "08").startswith(_LOST_STATES):
            return Complaint(Trouble.LOST, f"the database server is away: {cause}", _AWAY)
        if state is not None and state.startswith(_STORAGE_STATES):
            return Complaint(Trouble.UNUSABLE, f"the server cannot store it: {cause}", "look at the server's log")
        return None


def _on_connect(dbapi: Any, _record: Any) -> None:
    dbapi.autocommit = True
    dbapi.execute(_SESSION)
    dbapi.autocommit = False
