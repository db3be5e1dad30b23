"""The table of graders: names, refusals, and items that cannot be graded."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from rsibench.errors import SpecError
from rsibench.evaluation.graders import GRADERS, grade
from rsibench.outcomes import TrialOutcome

USABLE: dict[str, tuple[JsonValue, JsonValue]] = {
    "aime": (7, None),
    "choice": ("B", None),
    "gpqa": ("B", {"permutation": [2, 0, 3, 1]}),
    "integer": (7, None),
    "json": ({"k": 1}, None),
    "number": ("7.5", {"tolerance": "0.1"}),
    "sql": ([[1]], {"schema": "CREATE TABLE t (a INTEGER)"}),
}


def test_a_misspelt_grader_is_refused_with_a_suggestion() -> None:
    with pytest.raises(SpecError, match="did you mean 'integer'"):
        grade("intger", "Answer: 7", 7, None)


def test_a_grader_unlike_any_other_is_refused_with_the_list() -> None:
    with pytest.raises(SpecError, match="aime, choice"):
        grade("zzzz", "", 7, None)


def test_every_grader_has_a_usable_item_here() -> None:
    assert set(USABLE) == set(GRADERS)


@pytest.mark.parametrize("name", sorted(USABLE))
def test_silence_is_no_answer(name: str) -> None:
    expected, context = USABLE[name]
    verdict = grade(name, "", expected, context)
    assert verdict.outcome is TrialOutcome.NO_ANSWER
    assert verdict.extracted is None
    assert verdict.reason


@pytest.mark.parametrize("name", sorted(USABLE))
def test_an_unknown_context_key_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match="surprise"):
        grade(name, "", USABLE[name][0], {"surprise": 1})


@pytest.mark.parametrize(
    ("name", "expected", "context"),
    [
        ("integer", "seven", None),
        ("integer", True, None),
        ("integer", 7.5, None),
        ("number", "about 7", None),
        ("number", 7, {"tolerance": -1}),
        ("number", "1e999999", None),
        ("choice", "E", None),
        ("choice", "C", {"options": ["yes", "no"]}),
        ("choice", "A", {"letters": "ab"}),
        ("choice", "A", {"letters": "ABC", "options": ["yes", "no"]}),
        ("gpqa", "AB", None),
        ("gpqa", "A", {"permutation": [0, 1, 2, 2]}),
        ("json", [1], None),
        ("json", {"deep": json.loads("[" * 70 + "]" * 70)}, None),
        ("json", {"long": 10**200}, None),
        ("aime", None, None),
        ("sql", [[1]], None),
        ("sql", [[1]], {"schema": "CREATE TALBE t (a)"}),
        ("sql", [[1]], {"schema": "CREATE TABLE t (a)", "rows": {"t": [[1, 2]]}}),
        ("sql", [1], {"schema": "CREATE TABLE t (a)"}),
        ("sql", [[True]], {"schema": "CREATE TABLE t (a)"}),
        ("sql", "SELECT nothing FROM t", {"schema": "CREATE TABLE t (a)"}),
        ("integer", 7, []),
    ],
)
def test_an_item_that_cannot_be_graded_is_an_error_and_not_a_verdict(
    name: str, expected: JsonValue, context: JsonValue
) -> None:
    with pytest.raises(SpecError):
        grade(name, "Answer: 7", expected, context)
