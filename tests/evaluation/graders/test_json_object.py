"""The json grader: one object, compared as JSON values."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from rsibench.evaluation.graders import grade
from rsibench.outcomes import TrialOutcome

EXPECTED: JsonValue = {"name": "Ada", "age": 36, "tags": ["x", "y"], "ok": True, "note": None}
PLAIN = '{"name": "Ada", "age": 36, "tags": ["x", "y"], "ok": true, "note": null}'
SHUFFLED = '{\n  "ok": true,\n  "note": null,\n\n  "tags": ["x", "y"],\n  "age": 36.0,\n  "name": "Ada"\n}'
OTHER = '{"name": "Bob"}'

RIGHT = [
    PLAIN,
    SHUFFLED,
    f"Here it is:\n```json\n{SHUFFLED}\n```\nDone.",
    f"Answer: {PLAIN}",
    f"A draft: {OTHER}\nThe age was missing, so: {PLAIN}",
    f"{PLAIN}\n{PLAIN}",
    f"With {{braces}} in the text, and {{name: 'Ada'}} too: {PLAIN}",
    f"A lone {{ in the text, then {PLAIN}",
    f"<think>{OTHER}</think>{PLAIN}",
    PLAIN.replace("Ada", "\\u0041da"),
]
WRONG = [
    OTHER,
    PLAIN.replace("36", "37"),
    PLAIN.replace("36", '"36"'),
    PLAIN.replace("true", "1"),
    PLAIN.replace("null", "false"),
    PLAIN.replace("Ada", "ada"),
    PLAIN.replace('["x", "y"]', '["y", "x"]'),
    PLAIN.replace('"ok": true, ', ""),
    f"{PLAIN}\nOn second thought the right object is this one: {OTHER}",
]
NO_ANSWER = [
    "",
    "no object",
    "[1, 2]",
    PLAIN[:-1],
    PLAIN[:40],
    f"{PLAIN}\nBetter: {PLAIN[:-6]}",
    PLAIN.replace("{", '{"age": 36, '),
    PLAIN.replace("36", "NaN"),
    PLAIN.replace("36", "-Infinity"),
    PLAIN.replace("36", "3" * 200),
    PLAIN.replace('"Ada"', "'Ada'"),
    PLAIN.replace("null}", "null,}"),
    f"{{'result': {PLAIN}}}",
    f"{OTHER} or {PLAIN}",
    f"[{OTHER}, {PLAIN}]",
    '{"a":' * 200 + "1" + "}" * 200,
]


@pytest.mark.parametrize("output", RIGHT)
def test_the_same_value_passes(output: str) -> None:
    assert grade("json", output, EXPECTED, None).outcome is TrialOutcome.PASS, grade("json", output, EXPECTED, None)


@pytest.mark.parametrize("output", WRONG)
def test_another_value_fails(output: str) -> None:
    assert grade("json", output, EXPECTED, None).outcome is TrialOutcome.FAIL, grade("json", output, EXPECTED, None)


@pytest.mark.parametrize("output", NO_ANSWER)
def test_no_single_object(output: str) -> None:
    verdict = grade("json", output, EXPECTED, None)
    assert (verdict.outcome, verdict.extracted) == (TrialOutcome.NO_ANSWER, None), verdict


def test_strings_may_hold_braces_and_quotes() -> None:
    expected: JsonValue = {"text": 'a } b { "c" \\'}
    assert grade("json", 'So: {"text": "a } b { \\"c\\" \\\\"}', expected, None).outcome is TrialOutcome.PASS


def test_large_numbers_are_exact() -> None:
    expected: JsonValue = {"n": 9007199254740993}
    assert grade("json", '{"n": 9007199254740992}', expected, None).outcome is TrialOutcome.FAIL
    assert grade("json", '{"n": 9007199254740993}', expected, None).outcome is TrialOutcome.PASS
