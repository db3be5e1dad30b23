"""Queries: one SELECT statement over a small table; what counts is the rows it returns."""

from __future__ import annotations

from .dice import Dice
from .family import Family, Problem

TEMPLATES = {
    "schema": "CREATE TABLE {table} ({label} TEXT, {c1} INTEGER, {c2} INTEGER);\nWrite a SQL query to {task}.",
    "table": "Table {table}({label}, {c1}, {c2}). Write SQL to {task}.",
    "have": "The table {table} has the columns {label}, {c1} and {c2}. Query: {task}.",
}
ASK = "Reply with one SELECT statement."
_TABLES = (
    ("books", "title", "pages", "year"),
    ("cities", "name", "people", "height"),
    ("songs", "title", "seconds", "plays"),
    ("players", "name", "age", "goals"),
    ("shops", "name", "staff", "sales"),
    ("trips", "place", "days", "cost"),
)
_SIGNS = (">", "<")
_KINDS = {
    "count": ("count the {table} {limits}", "SELECT COUNT(*) FROM {table} {where}"),
    "all": ("show all columns of the {table} {limits}", "SELECT * FROM {table} {where}"),
    "list": ("list the {label} of the {table} {limits}", "SELECT {label} FROM {table} {where}"),
    "sum": ("add up the {other} of the {table} {limits}", "SELECT SUM({other}) FROM {table} {where}"),
    "highest": ("find the highest {other} of the {table} {limits}", "SELECT MAX({other}) FROM {table} {where}"),
}
_ROWS = 9


def draw(dice: Dice) -> Problem:
    """Six tables, two columns, five kinds of request, limits 15 to 85; some rows meet the condition, some do not."""
    table, label, c1, c2 = dice.pick(_TABLES)
    by_first = dice.pick((True, False))
    column, other = (c1, c2) if by_first else (c2, c1)
    kind, sign, limit = dice.pick(list(_KINDS)), dice.pick(_SIGNS), dice.between(15, 85)
    rows: list[tuple[str, int, int]] = []
    kept: list[tuple[str, int, int]] = []
    while not 2 <= len(kept) <= _ROWS - 2:
        filters, others = dice.sample(range(1, 100), _ROWS), dice.sample(range(1, 100), _ROWS)
        pairs = [(filters[i], others[i]) if by_first else (others[i], filters[i]) for i in range(_ROWS)]
        rows = [(f"{label} {i + 1}", *pair) for i, pair in enumerate(pairs)]
        kept = [rows[i] for i in range(_ROWS) if (filters[i] > limit if sign == ">" else filters[i] < limit)]
    texts = {
        "table": table,
        "label": label,
        "other": other,
        "limits": f"where {column} {sign} {limit}",
        "where": f"WHERE {column} {sign} {limit}",
    }
    task, query = (text.format(**texts) for text in _KINDS[kind])
    return Problem(
        core=(query,),
        fields={"table": table, "label": label, "c1": c1, "c2": c2, "task": task},
        expected=_result(kind, kept, 2 if by_first else 1),
        answer=query,
        steps=(f"{kind}, {column} {sign} {limit}",),
        context={
            "schema": f"CREATE TABLE {table} ({label} TEXT, {c1} INTEGER, {c2} INTEGER)",
            "rows": {table: [list(row) for row in rows]},
        },
    )


def _result(kind: str, kept: list[tuple[str, int, int]], other: int) -> list[list[object]]:
    """The rows that the query returns; `kept` are the rows that meet the condition, `other` the place of the column."""
    if kind in ("all", "list"):
        return [list(row) if kind == "all" else [row[0]] for row in kept]
    values = [int(row[other]) for row in kept]
    return [[{"count": len(values), "sum": sum(values), "highest": max(values)}[kind]]]


FAMILY = Family("query", "One SELECT statement over a small table", "sql", ASK, "{answer}", TEMPLATES, draw)
