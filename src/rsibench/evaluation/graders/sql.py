"""The `sql` grader: one SELECT, executed on the item's own in-memory database, its rows compared with the expected
ones.

`expected` is a list of rows, or a reference query whose rows are the expected ones. `context` holds `schema` (DDL), the
data as `rows` (`{table: [[cell, ...], ...]}`, or the rows alone with `table` naming theirs) or `inserts` (SQL) or both,
and `ordered` (false unless given: rows are then a multiset). Column order counts, column names do not. Numbers are
compared by value (1 equals 1.0; floats to nine significant digits), text character by character. A query that does not
run, or runs into a limit of `sql_sandbox`, is a wrong answer.
"""

from __future__ import annotations

import math
import sqlite3

from pydantic import JsonValue

from rsibench.evaluation.graders.sql_sandbox import Cell, Database, Refused, opened, run_select
from rsibench.evaluation.graders.sql_text import find_query
from rsibench.evaluation.graders.text import Output, visible_text
from rsibench.evaluation.graders.verdicts import bad_item, context_of, failed, no_answer, passed
from rsibench.spec.item import Verdict

MAX_REFERENCE_ROWS = 1_000
"""Rows of a reference query that are compared."""
_RELATIVE_TOLERANCE = 1e-9
_ABSOLUTE_TOLERANCE = 1e-12


def grade_sql(output: Output, expected: JsonValue, context: JsonValue) -> Verdict:
    """Verdict on `output`; raises SpecError when the item's database or expected rows cannot be used."""
    settings = context_of("sql", context, ("schema", "rows", "table", "inserts", "ordered"))
    database = _database(settings)
    ordered = settings.get("ordered", False)
    if not isinstance(ordered, bool):
        raise bad_item("sql", f"got ordered = {ordered!r}", "write true or false")
    wanted = _expected_rows(database, expected)
    query = find_query(visible_text(output))
    if query.value is None:
        _result(database, "SELECT 1", max_rows=1)
        return no_answer(query.reason)
    try:
        got = _result(database, query.value, max_rows=len(wanted) + 1)
    except Refused as refusal:
        return failed(query.shown, str(refusal))
    if same_rows(got, wanted, ordered=ordered):
        return passed(query.shown)
    return failed(query.shown, _difference(got, wanted))


def same_rows(got: list[tuple[Cell, ...]], wanted: list[tuple[Cell, ...]], *, ordered: bool) -> bool:
    """Equality of two results, as lists when `ordered`, else as multisets."""
    if len(got) != len(wanted):
        return False
    if not ordered:
        got, wanted = sorted(got, key=_sort_key), sorted(wanted, key=_sort_key)
    return all(
        len(left) == len(right) and all(map(_same_cell, left, right)) for left, right in zip(got, wanted, strict=True)
    )


def _same_cell(left: Cell, right: Cell) -> bool:
    if isinstance(left, int | float) and isinstance(right, int | float):
        if isinstance(left, int) and isinstance(right, int):
            return left == right
        return math.isclose(left, right, rel_tol=_RELATIVE_TOLERANCE, abs_tol=_ABSOLUTE_TOLERANCE)
    return type(left) is type(right) and left == right


def _sort_key(row: tuple[Cell, ...]) -> list[tuple[int, float, str]]:
    """Order by type, then value; floats are rounded so that rounding noise does not change the order."""
    return [_cell_key(cell) for cell in row]


def _cell_key(cell: Cell) -> tuple[int, float, str]:
    if cell is None:
        return (0, 0.0, "")
    if isinstance(cell, int | float):
        return (1, float(f"{cell:.9g}"), "")
    return (2, 0.0, cell) if isinstance(cell, str) else (3, 0.0, cell.hex())


def _difference(got: list[tuple[Cell, ...]], wanted: list[tuple[Cell, ...]]) -> str:
    """How the rows differ, without telling what was expected: researchers read reasons."""
    if len(got) > len(wanted):
        return "too many rows"
    return "too few rows" if len(got) < len(wanted) else "the rows differ"


def _result(database: Database, query: str, max_rows: int) -> list[tuple[Cell, ...]]:
    try:
        with opened(database) as connection:
            return run_select(connection, query, max_rows)
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        raise bad_item("sql", f"cannot build the database: {error}", "check schema, inserts and rows") from error


def _expected_rows(database: Database, expected: JsonValue) -> list[tuple[Cell, ...]]:
    if not isinstance(expected, str):
        return [tuple(row) for row in _rows("expected", expected)]
    try:
        return _result(database, expected, MAX_REFERENCE_ROWS)
    except Refused as refusal:
        raise bad_item("sql", f"cannot run the reference query: {refusal}", "check item.expected") from refusal


def _database(settings: dict[str, JsonValue]) -> Database:
    schema, inserts, tables = settings.get("schema"), settings.get("inserts", ""), settings.get("rows", {})
    if not isinstance(schema, str) or not isinstance(inserts, str):
        raise bad_item("sql", "needs a schema (and inserts) as SQL text", "give context.schema")
    if isinstance(tables, list) and isinstance(settings.get("table"), str):
        tables = {str(settings["table"]): tables}
    if not isinstance(tables, dict):
        raise bad_item("sql", "needs rows by table", 'write {"table": [[1, "a"], ...]}')
    return Database(schema, inserts, {table: _rows(f"rows.{table}", rows) for table, rows in tables.items()})


def _rows(field: str, value: JsonValue) -> list[list[Cell]]:
    problem = bad_item("sql", f"needs {field} as a list of rows of numbers, texts and nulls", "write [[1, 'a'], ...]")
    if not isinstance(value, list):
        raise problem
    rows: list[list[Cell]] = []
    for row in value:
        if not isinstance(row, list):
            raise problem
        cells: list[Cell] = [cell for cell in row if cell is None or isinstance(cell, int | float | str)]
        if len(cells) != len(row) or any(isinstance(cell, bool) for cell in row):
            raise problem
        rows.append(cells)
    return rows
