"""Properties of all graders: no crash, no drift, bounded work, and formatting that never changes a verdict."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from rsibench.evaluation.graders import GRADERS, grade
from rsibench.evaluation.graders.json_object import same_value
from rsibench.evaluation.graders.sql import same_rows
from rsibench.evaluation.graders.sql_sandbox import Cell, Database, Refused, opened, run_select
from rsibench.outcomes import TrialOutcome

ITEMS: dict[str, tuple[JsonValue, JsonValue]] = {
    "aime": (17, None),
    "choice": ("C", {"options": ["3 * 4", "a cat", "C sharp", "none"]}),
    "gpqa": ("C", None),
    "integer": (17, None),
    "json": ({"a": [1, {"b": None}]}, None),
    "number": ("1.7", {"tolerance": "0.01"}),
    "sql": ([[1, "x"]], {"schema": "CREATE TABLE t (a INTEGER, b TEXT)", "rows": {"t": [[1, "x"]]}}),
}
FRAGMENTS = [
    "Answer:", "Answer: 17", "Final answer: C", "**", "$", "\n", "\r\n", " ", "17", "1.7", "1,700", "(C)", "C", "A",
    "\\boxed{17}", "\\boxed{", "}", "{", '{"a": [1, {"b": null}]}', '{"a":', '"', "'", "```", "```sql\n", "SELECT 1",
    "select a, b from t;", "WITH x AS (", ")", "(", "/*", "--", "<think>", "</think>", "½", "²", "\u00a0", "\ud800",
    "is", "or", "the answer is", "because", "-", "=", "SELECT * FROM t", "/", "^", "NaN", "\\frac{1}{2}", "\0", "٣",
]  # fmt: skip
outputs = st.one_of(
    st.text(st.characters(), max_size=200),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map(" ".join),
)
prefixes = st.sampled_from(
    ["", "Answer: ", "**Answer:** ", "Final answer: ", "some words first\n\nAnswer: ", "answer:\n"]
)
letters = st.sampled_from("ABCD")


@pytest.mark.parametrize("name", sorted(GRADERS))
@given(output=outputs)
@settings(max_examples=150, deadline=None)
def test_any_text_gets_one_well_formed_verdict(name: str, output: str) -> None:
    expected, context = ITEMS[name]
    verdict = grade(name, output, expected, context)
    assert verdict == grade(name, output, expected, context)
    assert verdict.outcome in {TrialOutcome.PASS, TrialOutcome.FAIL, TrialOutcome.NO_ANSWER}
    assert (verdict.extracted is None) == (verdict.outcome is TrialOutcome.NO_ANSWER)
    assert verdict.digest()


@given(
    value=st.integers(-(10**12), 10**12),
    before=st.sampled_from(
        ["", "We add 3 and 4, then double.\n", "1. First, 5 = 5.\n2. Then:\n\n", "Answer: 3\nWait.\n"]
    ),
    label=st.sampled_from(
        ["Answer:", "**Answer:**", "Final answer:", "**Final Answer**:", "> answer:", "The answer is:"]
    ),
    dress=st.sampled_from(
        ["{}", "**{}**", "${}$", "`{}`", "{}.", "({})", "\\boxed{{{}}}", "{} apples", "x = {}", "\n{}"]
    ),
    commas=st.booleans(),
)
def test_dressing_an_integer_never_changes_its_verdict(
    value: int, before: str, label: str, dress: str, commas: bool
) -> None:
    shown = f"{value:,}" if commas else str(value)
    output = f"{before}{label} {dress.format(shown)}"
    for grader in ("integer", "number"):
        assert grade(grader, output, value, None).outcome is TrialOutcome.PASS
        assert grade(grader, output, value + 1, None).outcome is TrialOutcome.FAIL


@given(value=st.decimals(-(10**6), 10**6, places=4), dress=st.sampled_from(["{}", "**{}**", "${}$", "{} kg", "{}."]))
def test_dressing_a_decimal_never_changes_its_verdict(value: object, dress: str) -> None:
    output = f"Answer: {dress.format(value)}"
    assert grade("number", output, str(value), None).outcome is TrialOutcome.PASS


@given(
    letter=letters,
    before=st.sampled_from(["", "A is wrong. B too?\n", "Answer: D\nHold on.\n", "(A) and (B) differ.\n\n"]),
    label=st.sampled_from(["Answer:", "**Answer:**", "Final answer:", "answer:", "- Answer:"]),
    dress=st.sampled_from(
        ["{}", "({})", "**{}**", "${}$", "{}.", "{})", "option {}", "\\boxed{{{}}}", "\n{}", "{} (sure)"]
    ),
)
def test_dressing_a_letter_never_changes_its_verdict(letter: str, before: str, label: str, dress: str) -> None:
    output = f"{before}{label} {dress.format(letter)}"
    for grader in ("choice", "gpqa"):
        for expected in "ABCD":
            wanted = TrialOutcome.PASS if letter == expected else TrialOutcome.FAIL
            assert grade(grader, output, expected, None).outcome is wanted


@given(
    value=st.integers(0, 999),
    style=st.sampled_from(["{}", "\\text{{{}}}", "\\mathbf{{{}}}", "{} \\text{{ ways}}", "n={}"]),
)
def test_padding_and_styling_a_box_never_change_its_verdict(value: int, style: str) -> None:
    for shown in (str(value), f"{value:03d}"):
        output = f"So we find $\\boxed{{{style.format(shown)}}}$."
        assert grade("aime", output, str(value), None).outcome is TrialOutcome.PASS
        assert grade("aime", output, value + 1, None).outcome is TrialOutcome.FAIL


@given(first=st.integers(0, 999), second=st.integers(0, 999))
def test_two_different_answers_in_the_final_line_are_none(first: int, second: int) -> None:
    outcome = TrialOutcome.PASS if first == second else TrialOutcome.NO_ANSWER
    for line in (f"Answer: {first} or {second}", f"Answer: {first}; {second}", f"Answer: {first} = {second}"):
        if "=" not in line:
            assert grade("integer", line, first, None).outcome is outcome
    assert grade("aime", f"\\boxed{{{first}}} or \\boxed{{{second}}}", first, None).outcome is outcome


scalars = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=8)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
)
objects = st.dictionaries(st.text(max_size=5), values, max_size=5)


@given(
    value=objects,
    indent=st.sampled_from([None, 0, 2]),
    ascii_only=st.booleans(),
    before=st.sampled_from(["", "```json\n", "So: ", '{"draft": 1} was wrong.\n', "{x} and {y: 2} are sets; "]),
    after=st.sampled_from(["", "\n```", " which is it.", "\n\nDone."]),
)
def test_layout_never_changes_a_json_verdict(
    value: dict[str, JsonValue], indent: int | None, ascii_only: bool, before: str, after: str
) -> None:
    backwards = dict(reversed(value.items()))
    output = before + json.dumps(backwards, indent=indent, ensure_ascii=ascii_only) + after
    assume("</think>" not in output)
    assert grade("json", output, value, None).outcome is TrialOutcome.PASS
    assert grade("json", output, {**value, "one more": 1}, None).outcome is not TrialOutcome.PASS


@given(value=values)
def test_json_equality_is_reflexive_and_strict_about_types(value: JsonValue) -> None:
    assert same_value(value, value)  # type: ignore[arg-type]  # generated values hold no floats
    assert not same_value([value], value)  # type: ignore[arg-type, list-item]  # as above


cells = st.none() | st.integers(-5, 5) | st.floats(-5, 5) | st.text("ab", max_size=2)
tables = st.lists(st.tuples(cells, cells), max_size=8)


@given(rows=tables, data=st.data())
def test_unordered_results_ignore_order_only(rows: list[tuple[Cell, ...]], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(rows))
    assert same_rows(rows, shuffled, ordered=False)
    assert not same_rows(rows, [*shuffled, (None, None)], ordered=False)
    if rows:
        assert not same_rows(rows, [*shuffled[1:], ("something", "else")], ordered=False)


SQL_WORDS = """
SELECT FROM t , ( ) a b * 1 'x' || WITH c AS UNION ALL WHERE ORDER BY LIKE '%x%' IN NOT NULL JOIN ON = < OVER COUNT(*)
group_concat(b) replace(b,b,b) VALUES ; DELETE INSERT INTO ATTACH PRAGMA x'ff' 9e999 -- /* */ LIMIT GROUP HAVING
"""
sql_words = st.sampled_from(SQL_WORDS.split())


@given(words=st.lists(sql_words, max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_query_ends_and_leaves_the_data_alone(words: list[str]) -> None:
    with opened(Database("CREATE TABLE t (a INTEGER, b TEXT)", "INSERT INTO t VALUES (1, 'x')", {})) as connection:
        with suppress(Refused):
            assert len(run_select(connection, "SELECT " + " ".join(words), 10)) <= 10
        assert run_select(connection, "SELECT a, b FROM t", 10) == [(1, "x")]


HOSTILE = [
    "1 ",
    "(",
    "\\boxed{",
    "{",
    '{"a":',
    '{"',
    "Answer: ",
    "Answer:\n",
    "answer is 1 ",
    "```\n",
    "/*",
    "select ",
    "½",
    "*_",
]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("unit", HOSTILE)
def test_megabytes_are_graded_in_bounded_time(unit: str) -> None:
    output = unit * (5_000_000 // len(unit))
    for name, (expected, context) in ITEMS.items():
        for text in (output, output + "\nAnswer: " + unit * 5_000):
            assert grade(name, text, expected, context).outcome in TrialOutcome
