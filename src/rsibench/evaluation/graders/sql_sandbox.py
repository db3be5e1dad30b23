"""A small in-memory SQLite database on which one untrusted SELECT is run under limits.

Invariant: the query can only read the tables that the item made and call functions that are pure and cheap; virtual
machine steps, rows, lengths, columns and nesting are limited, so any query ends soon and within some tens of
megabytes. The limits count work, not time: the same query always ends the same way. No file is ever opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rsibench.evaluation.graders.sql_shape import copies

type Cell = int | float | str | bytes | None

MAX_STEPS = 200_000
"""Virtual machine instructions of one connection."""
MAX_COPIES = 32
"""How often compiling a query may copy a common table expression, see `sql_shape`."""
MAX_VALUE_BYTES = 1_000
"""Longest text or row that a query may make; one step that searches a text takes time with the square of its length."""
MAX_QUERY_CHARS = 4_000
_STEPS_A_CALL = 1_000
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 * MAX_QUERY_CHARS,
    sqlite3.SQLITE_LIMIT_COLUMN: 64,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 8,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 50_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 40,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_FUNCTION_NAMES = """
    abs avg coalesce count glob group_concat ifnull iif instr length like lower ltrim max min nullif replace round rtrim
    sign substr substring sum total trim typeof unicode upper char hex row_number rank dense_rank percent_rank cume_dist
    ntile lag lead first_value last_value nth_value
"""
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())


class Refused(Exception):
    """The query did not run to its end; the text says why."""


class Database(NamedTuple):
    """What an item's database holds: `schema` is DDL, `inserts` SQL that fills it, `rows` values by table."""

    schema: str
    inserts: str
    rows: dict[str, list[list[Cell]]]


@contextmanager
def opened(database: Database) -> Iterator[sqlite3.Connection]:
    """A populated and confined in-memory database, closed afterwards; raises sqlite3.Error for bad SQL of the item.

    The limit on steps is one for all queries of the connection.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=True, cached_statements=0)
    try:
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.executescript(database.schema)
        connection.executescript(database.inserts)
        for table, rows in database.rows.items():
            quoted = '"' + table.replace('"', '""') + '"'
            for row in rows:
                places = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {quoted} VALUES ({places})", row)  # noqa: S608 - the item's own table
        _confine(connection)
        yield connection
    finally:
        connection.close()


def run_select(connection: sqlite3.Connection, query: str, max_rows: int) -> list[tuple[Cell, ...]]:
    """The rows of one untrusted query, at most `max_rows` of them; raises Refused."""
    if len(query) > MAX_QUERY_CHARS:
        raise Refused(f"the query is longer than {MAX_QUERY_CHARS} characters")
    if copies(query) > MAX_COPIES:
        raise Refused(f"its common table expressions are copied more than {MAX_COPIES} times")
    try:
        return list(connection.execute(query).fetchmany(max_rows))
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
        raise Refused(_readable(error)) from error


def _confine(connection: sqlite3.Connection) -> None:
    """Makes the connection read-only and limited. Nothing can be loosened again through SQL."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    calls = 0

    def authorize(action: int, first: str | None, second: str | None, _schema: str | None, _source: str | None) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
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
