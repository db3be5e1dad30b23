"""The number grader: exact decimals, and a tolerance only where the item has one."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from rsibench.evaluation.graders import grade
from rsibench.outcomes import TrialOutcome


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Answer: 3.50", "3.5"),
        ("Answer: 3.5 litres", 3.5),
        ("Answer: .5", "0.5"),
        ("Answer: 1,234.50", "1234.5"),
        ("Answer: -0.125", -0.125),
        ("Answer: $0.10", 0.1),
        ("Answer: 1/8", "0.125"),
        ("Answer: ½", "0.5"),
        (r"Answer: $\frac{1}{8}$", "0.125"),
    ],
)
def test_values_are_compared_exactly(output: str, expected: JsonValue) -> None:
    assert grade("number", output, expected, None).outcome is TrialOutcome.PASS


@pytest.mark.parametrize("output", ["Answer: 0.30000000000000004", "Answer: 0.3001", "Answer: 0.29", "Answer: 1/3"])
def test_almost_is_wrong_without_a_tolerance(output: str) -> None:
    assert grade("number", output, 0.3, None).outcome is TrialOutcome.FAIL


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("2.25", TrialOutcome.PASS),
        ("2.15", TrialOutcome.PASS),
        ("2.2501", TrialOutcome.FAIL),
        ("2.1", TrialOutcome.FAIL),
    ],
)
def test_the_tolerance_is_inclusive_and_exact(answer: str, outcome: TrialOutcome) -> None:
    assert grade("number", f"Answer: {answer}", "2.2", {"tolerance": "0.05"}).outcome is outcome


@pytest.mark.parametrize("output", ["Answer: 3,5", "Answer: 3.5.1", "Answer: 3:30", "Answer: 1e3", "Answer: 2 1/2"])
def test_unclear_notations_are_no_answer(output: str) -> None:
    assert grade("number", output, "3.5", None).outcome is TrialOutcome.NO_ANSWER
