"""The sql grader: queries run on the item's own small database, and nothing else can be done with it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from pydantic import JsonValue

from rsibench.evaluation.graders import grade
from rsibench.evaluation.graders.sql_sandbox import Database, Refused, opened, run_select
from rsibench.evaluation.graders.sql_shape import copies
from rsibench.outcomes import TrialOutcome

CONTEXT: JsonValue = {
    "schema": "CREATE TABLE boats (name TEXT, length REAL, crew INTEGER);",
    "rows": {"boats": [["Ida", 7.5, 2], ["Joy", 9.0, 3], ["Kim", 9.0, None]]},
}
LONG: JsonValue = [["Joy"], ["Kim"]]
QUERY = "SELECT name FROM boats WHERE length > 8"

RIGHT = [
    QUERY,
    QUERY + ";",
    QUERY.lower(),
    f"Answer: {QUERY}",
    f"**Answer:** `{QUERY}`",
    f"SQL: {QUERY};\n\nThis lists the long boats.",
    f"Here is the query:\n```sql\n{QUERY};\n```\nIt lists the long boats.",
    f"```\n-- the long boats\n{QUERY}\n```",
    f"```sql\n{QUERY}",
    f"The query is below.\n\n{QUERY} ORDER BY name DESC;\nWith this, only long boats remain.",
    f"```sql\nSELECT 1\n```\nThat is not it.\n```sql\n{QUERY}\n```\nwhich prints\n```\nJoy\nKim\n```",
    f"SQL: ```{QUERY}```",
    f"{QUERY};\n\nOutput:\n```\n\nThis lists the long boats.",
    f"{QUERY}\n```\nThis lists the long boats.",
    "WITH long AS (SELECT name FROM boats WHERE length > 8)\nSELECT name FROM long;",
    "SELECT name FROM boats WHERE name = 'Joy'\nUNION ALL\nSELECT name FROM boats WHERE crew IS NULL",
    "SELECT name FROM boats WHERE name <> 'a;b' AND length > 8",
]
WRONG = [
    "SELECT name FROM boats",
    "SELECT name FROM boats WHERE length > 9",
    "SELECT name, length FROM boats WHERE length > 8",
    "SELECT lower(name) FROM boats WHERE length > 8",
    "SELECT nam FROM boats",
    "SELECT name FROM boats WHERE",
    "SELECT name FROM boats UNION SELECT name FROM",
]
NO_ANSWER = [
    "",
    "The query selects the names of long boats.",
    "DELETE FROM boats",
    "```sql\nUPDATE boats SET length = 9\n```",
    f"{QUERY}; DROP TABLE boats",
    f"```sql\n{QUERY};\n{QUERY};\n```",
    "EXPLAIN SELECT 1",
    "VALUES ('Joy'), ('Kim')",
    "Answer: PRAGMA table_info(boats)",
]


@pytest.mark.parametrize("output", RIGHT)
def test_a_query_with_the_expected_rows_passes(output: str) -> None:
    verdict = grade("sql", output, LONG, CONTEXT)
    assert verdict.outcome is TrialOutcome.PASS, verdict


@pytest.mark.parametrize("output", WRONG)
def test_other_rows_or_a_broken_query_fail(output: str) -> None:
    verdict = grade("sql", output, LONG, CONTEXT)
    assert verdict.outcome is TrialOutcome.FAIL, verdict
    assert verdict.reason


@pytest.mark.parametrize("output", NO_ANSWER)
def test_no_single_query(output: str) -> None:
    assert grade("sql", output, LONG, CONTEXT).outcome is TrialOutcome.NO_ANSWER, grade("sql", output, LONG, CONTEXT)


def test_order_counts_only_when_the_item_says_so() -> None:
    assert isinstance(CONTEXT, dict)
    ordered: JsonValue = {**CONTEXT, "ordered": True}
    assert grade("sql", f"{QUERY} ORDER BY name DESC", LONG, ordered).outcome is TrialOutcome.FAIL
    assert grade("sql", f"{QUERY} ORDER BY name", LONG, ordered).outcome is TrialOutcome.PASS


def test_rows_are_a_multiset() -> None:
    assert grade("sql", "SELECT length FROM boats", [[9], [7.5], [9]], CONTEXT).outcome is TrialOutcome.PASS
    assert grade("sql", "SELECT DISTINCT length FROM boats", [[9], [7.5], [9]], CONTEXT).outcome is TrialOutcome.FAIL


def test_nulls_and_rounding() -> None:
    assert grade("sql", "SELECT crew FROM boats", [[2], [3], [None]], CONTEXT).outcome is TrialOutcome.PASS
    assert grade("sql", "SELECT 0.1 + 0.2", [[0.3]], CONTEXT).outcome is TrialOutcome.PASS
    assert grade("sql", "SELECT '3'", [[3]], CONTEXT).outcome is TrialOutcome.FAIL


def test_a_reference_query_gives_the_expected_rows() -> None:
    context: JsonValue = {"schema": "CREATE TABLE t (a INTEGER)", "table": "t", "rows": [[1], [2], [3]]}
    assert grade("sql", "SELECT TOTAL(a) FROM t", "SELECT SUM(a) FROM t", context).outcome is TrialOutcome.PASS
    assert grade("sql", "SELECT COUNT(a) FROM t", "SELECT SUM(a) FROM t", context).outcome is TrialOutcome.FAIL


FORBIDDEN = [
    "SELECT load_extension('x')",
    "SELECT * FROM pragma_database_list",
    "SELECT sql FROM sqlite_master",
    "SELECT randomblob(8)",
    "SELECT random()",
    "SELECT date('now')",
    "SELECT CURRENT_TIMESTAMP",
    "SELECT hex(zeroblob(2000000000))",
    "SELECT printf('%.2000000000d', 1)",
    "SELECT * FROM json_each('[1]')",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    "WITH x AS (SELECT 1) DELETE FROM boats",
    "WITH x AS (SELECT 1) INSERT INTO boats VALUES ('Joy', 1, 1)",
    "SELECT '\0'",
    "SELECT CAST(x'ff' AS TEXT)",
]


def doubling(body: str) -> str:
    """Twelve common table expressions, each of which names the one before it twice."""
    steps = [body.replace("NEW", f"a{i + 1}").replace("OLD", f"a{i}") for i in range(12)]
    return f"WITH a0 AS (SELECT 1 x), {', '.join(steps)} SELECT COUNT(*) FROM a12"  # noqa: S608 - the test's own words


_BOATS = ", ".join(f"boats b{i}" for i in range(30))
_MANY_ROWS = [
    "SELECT COUNT(*) FROM <30 boats>",
    "SELECT b1.name || b2.name || b9.name FROM <30 boats> ORDER BY 1",
    "SELECT group_concat(b1.name) FROM <30 boats>",
    "SELECT DISTINCT b1.length * b2.length FROM <30 boats>",
    "SELECT name FROM boats WHERE length IN (SELECT b1.length * b2.length FROM <30 boats>)",
    "SELECT SUM(b1.length) OVER (ORDER BY b2.name, b3.name) FROM <30 boats>",
]
DOUBLINGS = [
    doubling("NEW AS (SELECT p.x FROM OLD p, OLD q)"),
    doubling('[NEW] (x) AS /* ( */ NOT MATERIALIZED (SELECT p.x FROM "OLD" p, `OLD` q)'),
    doubling("'NEW' AS -- (\n (SELECT p.x FROM 'OLD' p, OLD q)"),
]
COSTLY = [
    *DOUBLINGS,
    *(query.replace("<30 boats>", _BOATS) for query in _MANY_ROWS),
    "SELECT " + "(" * 1500 + "1" + ")" * 1500,
    "SELECT " + "NOT " * 900 + "1",
    "SELECT * FROM (" * 200 + "SELECT 1" + ")" * 200,
    "SELECT 1 " + "UNION ALL SELECT 1 " * 150,
    QUERY + " OR length = 1" * 300,
    "SELECT '" + "x" * 3900 + "'",
]


@pytest.mark.parametrize("query", FORBIDDEN)
def test_forbidden_queries_are_wrong_answers(query: str) -> None:
    verdict = grade("sql", query, LONG, CONTEXT)
    assert verdict.outcome is TrialOutcome.FAIL, verdict
    assert verdict.reason.startswith("SQLite:")


@pytest.mark.parametrize("query", COSTLY)
@pytest.mark.timeout(10)
def test_costly_queries_end_soon(query: str) -> None:
    verdict = grade("sql", query, LONG, CONTEXT)
    assert verdict.outcome is TrialOutcome.FAIL, verdict


@pytest.mark.parametrize("query", DOUBLINGS)
def test_copies_of_common_table_expressions_are_counted_however_they_are_written(query: str) -> None:
    assert copies(query) >= 2**12


def test_plain_queries_are_not_copied() -> None:
    assert copies(QUERY) == 1
    assert copies("WITH a AS (SELECT 1 x) SELECT p.x, q.x FROM a p, a q") == 2


def test_a_confined_database_cannot_be_written_or_left(tmp_path: Path) -> None:
    database = Database("CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)", {})
    elsewhere = tmp_path / "elsewhere.sqlite"
    for statement in ["DELETE FROM t", f"ATTACH '{elsewhere}' AS e", f"VACUUM INTO '{elsewhere}'", "DROP TABLE t"]:
        with opened(database) as connection:
            with pytest.raises(Refused):
                run_select(connection, statement, 1)
            assert run_select(connection, "SELECT a FROM t", 5) == [(1,)]
    assert not elsewhere.exists()


def test_the_sandbox_closes_its_connection() -> None:
    with opened(Database("CREATE TABLE t (a)", "", {})) as connection:
        pass
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")
