"""Queries: one SELECT statement over a small table; what counts is the rows it returns."""

from __future__ import annotations

from .dice import Dice
from .family import Family, Problem

TEMPLATES = {
    "table": "Table {table}({label} TEXT, {c1} INTEGER, {c2} INTEGER).\nTask: {task}.",
    "have": "There is a database table {table} with the columns {label}, {c1} and {c2}. I want to {task}.",
    "schema": "CREATE TABLE {table} ({label} TEXT, {c1} INTEGER, {c2} INTEGER);\nWrite SQL to {task}.",
}
ASK = "Reply with one SQLite SELECT statement."
_TABLES = (
    ("books", "title", "pages", "year"),
    ("cities", "name", "people", "height"),
    ("songs", "title", "seconds", "plays"),
    ("players", "name", "age", "goals"),
    ("shops", "name", "staff", "sales"),
    ("trips", "place", "days", "cost"),
)
_OPERATORS = ((">", "more than"), ("<", "less than"))
_ROWS = 8


def _task(dice: Dice, label: str, column: str, other: str, table: str) -> tuple[str, str, str]:
    """Kind, request and query."""
    sign, words = dice.pick(_OPERATORS)
    limit = dice.between(15, 85)
    where = f"WHERE {column} {sign} {limit}"
    limits = f"with {words} {limit} {column}"
    kinds = (
        ("count", f"count the {table} {limits}", f"SELECT COUNT(*) FROM {table} {where}"),
        ("list", f"list the {label} of all {table} {limits}", f"SELECT {label} FROM {table} {where}"),
        ("sum", f"add up the {other} of all {table} {limits}", f"SELECT SUM({other}) FROM {table} {where}"),
        ("max", f"find the highest {other} among the {table} {limits}", f"SELECT MAX({other}) FROM {table} {where}"),
    )
    return dice.pick(kinds)


def draw(dice: Dice) -> Problem:
    """Six tables, two columns, four kinds of request, limits 15 to 85."""
    table, label, c1, c2 = dice.pick(_TABLES)
    column, other = dice.pick([(c1, c2), (c2, c1)])
    kind, task, query = _task(dice, label, column, other, table)
    rows = [[f"{table[:-1]} {i + 1}", dice.between(1, 99), dice.between(1, 99)] for i in range(_ROWS)]
    return Problem(
        core=(query,),
        fields={"table": table, "label": label, "c1": c1, "c2": c2, "task": task},
        expected=query,
        answer=query + ";",
        steps=(f"{kind}, filter on {column}",),
        context={"schema": f"CREATE TABLE {table} ({label} TEXT, {c1} INTEGER, {c2} INTEGER)", "table": table, "rows": rows},
    )


FAMILY = Family("query", "One SELECT statement over a small table", "sql", ASK, "{answer}", TEMPLATES, draw)
