"""Hand-written outputs with a careful reader's judgement, kept beside the project and not in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from rsibench.evaluation.graders import grade
from rsibench.outcomes import TrialOutcome

CASES = Path(__file__).parents[4] / "shared" / "data" / "tricky-answers.jsonl"

FOLLOWED = {
    "aime": {"lenient_fallback", "needs_human_reading", "last_box_rule_gives_35"},
    "gpqa": {"lenient_fallback", "hedge", "newline_tolerant"},
}
"""Policies on which the documented rule agrees with the careful reader, by benchmark."""
STRICTER = {("aime", "value_equal_vs_literal_integer"), ("gpqa", "elimination_mentions")}
"""Where the documented rule gives no credit that a careful reader gives: expressions, and choices only implied."""


class Case(NamedTuple):
    """One line of the file."""

    name: str
    benchmark: str
    tag: str
    policy: str
    gold: str
    output: str
    value: str
    correct: bool


def cases() -> list[Case]:
    if not CASES.is_file():
        return []
    lines = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return [
        Case(
            line["id"],
            line["benchmark"],
            line["tag"],
            line["policy"].removeprefix("policy:"),
            line["gold"],
            line["output"],
            line["human_value"],
            line["human_correct"],
        )
        for line in lines
    ]


needs_file = pytest.mark.skipif(not CASES.is_file(), reason="no folder shared/data beside the checkout")


def stricter(case: Case) -> bool:
    return bool({(case.benchmark, case.policy), (case.benchmark, case.tag)} & STRICTER)


@needs_file
@pytest.mark.parametrize("case", [case for case in cases() if not stricter(case)], ids=lambda case: case.name)
def test_agrees_with_the_careful_reader(case: Case) -> None:
    assert case.policy == "clear" or case.policy in FOLLOWED[case.benchmark]
    verdict = grade(case.benchmark, case.output, case.gold, None)
    assert (verdict.outcome is TrialOutcome.PASS) == case.correct, verdict
    assert (verdict.outcome is TrialOutcome.NO_ANSWER) == (case.value == "none"), verdict
    if case.value != "none":
        assert verdict.extracted == case.value


@needs_file
def test_stricter_rules_never_give_undue_credit() -> None:
    strict = [case for case in cases() if stricter(case)]
    assert {case.policy for case in strict}.isdisjoint({"clear"})
    for case in strict:
        assert grade(case.benchmark, case.output, case.gold, None).outcome is not TrialOutcome.PASS
