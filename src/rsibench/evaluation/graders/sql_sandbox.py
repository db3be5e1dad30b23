"""A small in-memory SQLite database on which one untrusted SELECT is run under limits.

Invariant: the query can only read the tables that the item made and call functions that are pure and cheap; virtual machine
steps, rows, lengths, columns and nesting are limited, so any query ends soon and within some tens of megabytes. The limits
count work, not time: the same query always ends the same way. No file is ever opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

type Cell = None | int | float | str | bytes

MAX_STEPS = 400_000
"""Virtual machine instructions of one query."""
MAX_SELECTS = 40
"""SELECTs of one query, those counted again that a common table expression repeats."""
MAX_QUERY_CHARS = 4_000
_STEPS_A_CALL = 1_000
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 * MAX_QUERY_CHARS,
    sqlite3.SQLITE_LIMIT_COLUMN: 64,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 8,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 50_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 64,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_FUNCTIONS = frozenset(
    "abs avg coalesce count glob group_concat ifnull iif instr length like lower ltrim max min nullif replace round rtrim "
    "sign substr substring sum total trim typeof unicode upper char hex row_number rank dense_rank percent_rank cume_dist "
    "ntile lag lead first_value last_value nth_value".split()
)


class Refused(Exception):
    """The query did not run to its end; the text says why."""


class Database(NamedTuple):
    """What an item's database holds: `schema` is DDL, `inserts` SQL that fills it, `rows` values by table."""

    schema: str
    inserts: str
    rows: dict[str, list[list[Cell]]]


@contextmanager
def opened(database: Database) -> Iterator[sqlite3.Connection]:
    """A populated in-memory database that is closed afterwards; raises sqlite3.Error when the item's SQL is wrong."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=True, cached_statements=0)
    try:
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.executescript(database.schema)
        connection.executescript(database.inserts)
        for table, rows in database.rows.items():
            quoted = '"' + table.replace('"', '""') + '"'
            for row in rows:
                connection.execute(f"INSERT INTO {quoted} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - the item's own table
        yield connection
    finally:
        connection.close()


def run_select(connection: sqlite3.Connection, query: str, max_rows: int) -> list[tuple[Cell, ...]]:
    """The rows of one untrusted query, at most `max_rows` of them; raises Refused. The connection is spent afterwards."""
    if len(query) > MAX_QUERY_CHARS:
        raise Refused(f"the query is longer than {MAX_QUERY_CHARS} characters")
    _confine(connection)
    try:
        rows: Sequence[tuple[Cell, ...]] = connection.execute(query).fetchmany(max_rows)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
        raise Refused(_readable(error)) from error
    return list(rows)


def _confine(connection: sqlite3.Connection) -> None:
    """Makes the connection read-only and limited. Nothing can be loosened again through SQL."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    selects = calls = 0

    def authorize(action: int, first: str | None, second: str | None, _schema: str | None, _source: str | None) -> int:
        nonlocal selects
        if action == sqlite3.SQLITE_SELECT:
            selects += 1
            return sqlite3.SQLITE_OK if selects <= MAX_SELECTS else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_READ:
            return sqlite3.SQLITE_OK if first in tables else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_OK if (second or "").lower() in _FUNCTIONS else sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_DENY

    def progress() -> int:
        nonlocal calls
        calls += 1
        return int(calls * _STEPS_A_CALL > MAX_STEPS)

    connection.set_authorizer(authorize)
    connection.set_progress_handler(progress, _STEPS_A_CALL)


def _readable(error: Exception) -> str:
    if isinstance(error, sqlite3.OperationalError) and "interrupted" in str(error):
        return f"the query needs more than {MAX_STEPS} steps"
    if isinstance(error, MemoryError):
        return "the query needs too much memory"
    return f"SQLite: {error}"
