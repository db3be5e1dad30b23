"""The integer grader and the shared reading of numbers. 42 is right in every case here."""

from __future__ import annotations

import pytest

from rsibench.evaluation.graders import grade
from rsibench.outcomes import TrialOutcome

RIGHT = [
    "Answer: 42",
    "Six sevens make forty-two.\nAnswer: 42",
    "**Answer:** 42",
    "**Answer: 42**",
    "**Final answer**: 42.",
    "Final Answer: 42 marbles",
    "### Answer: 42",
    "> answer: `42`",
    "- Answer: 42",
    "Answer: $42",
    "Answer: $42$",
    r"Answer: \(42\)",
    r"Answer: $\boxed{42}$",
    r"Answer: \text{42 cm}",
    "Answer: 42.00",
    "Answer: +42",
    "Answer: 42%",
    "Answer: 42 km/h",
    "Answer: 42 m²",
    "Answer: 42 m^2",
    "Answer: (42)",
    "Answer: 42 (I checked that 84 is twice this)",
    "Answer: 42 because 6 * 7 = 42",
    "Answer: x = 42",
    "Answer: 6 * 7 = 42",
    "Answer: 84/2",
    "Answer: 42",
    "Answer：４２",
    "Answer: ٤٢",
    "Answer:\n42",
    "Answer:\n\n  **42**\n",
    "The answer is: 42",
    "So, the final answer: 42",
    "Answer: 41\nNo, I forgot one.\nAnswer: 42",
    "<think>\nAnswer: 13\n</think>\nAnswer: 42",
    "the notes end here</think>Answer: 42",
    "42",
    " **42** ",
    "42.",
    "42 apples",
    "= 42",
    "6 * 7 = 42",
    "6 * 7 = 42.",
    "Twelve and thirty give the total. It is 42.",
    "He sold 12 and then 30. In all that is 42 eggs.",
    "First 6, then 7; so the product equals 42",
    "I think the answer is 42. Hope that helps you with the other 3 tasks!",
    r"We multiply: $6 \cdot 7 = \boxed{42}$. There are 7 days in it.",
    "The answer is 41.\n\nWait, one is missing.\nSo, the answer is 42.",
    "The answer is 41.\n\nLet me count again. 40 + 2 = 42",
    "The answer is found by adding 12 and 30. So 12 + 30 = 42",
    "Answer: '42'",
    'The answer is "42".',
    "All right\r\nAnswer: 42\r\n",
]
NO_ANSWER = [
    "",
    "   \n ",
    "I do not know.",
    "Answer:",
    "Answer: none",
    "Answer: 41 or 42",
    "Answer: 42, 43",
    "Answer: 42 and 7",
    "Answer: 40-42",
    "Answer: 42 minutes 30 seconds",
    "Answer: 41. No wait, 42",
    "Answer: 41, so 6 * 7 = 42",
    "Answer: 4,2",
    "Answer: 6 * 7",
    "Answer: x + 42",
    "Answer: 42 + x",
    "Answer: 42^2",
    r"Answer: 42 \times 1",
    "Answer: 42/0",
    "Answer: 3/4/42",
    "Answer: " + "4" * 101,
    "6 and 7 and 42",
    "There were 42 birds on the wire and then",
    "The answer is 42 or 43.",
    "It is either 41 or it is 42.",
    "The answer is 42. Though the answer is 43 when it rains.",
    "The answer is not 42",
    "Is it 42?",
    "<think>Answer: 42",
    r"The result is \boxed{42",
    r"Take \boxed{41} or \boxed{42}.",
    "Answer: 42\nAnswer: unknown",
]
WRONG = [
    ("Answer: -42", "-42"),
    ("Answer: 42.5", "42.5"),
    ("Answer: 4,200", "4200"),
    ("Answer: 7/3", "7/3"),
    ("0", "0"),
]


@pytest.mark.parametrize("output", RIGHT)
def test_reads_the_stated_answer(output: str) -> None:
    verdict = grade("integer", output, 42, None)
    assert (verdict.outcome, verdict.extracted) == (TrialOutcome.PASS, "42"), verdict


@pytest.mark.parametrize("output", NO_ANSWER)
def test_no_single_answer(output: str) -> None:
    verdict = grade("integer", output, 42, None)
    assert (verdict.outcome, verdict.extracted) == (TrialOutcome.NO_ANSWER, None), verdict


@pytest.mark.parametrize(("output", "shown"), WRONG)
def test_a_wrong_answer_is_shown_exactly(output: str, shown: str) -> None:
    verdict = grade("integer", output, 42, None)
    assert (verdict.outcome, verdict.extracted) == (TrialOutcome.FAIL, shown)


@pytest.mark.parametrize("output", ["Answer: -3", "Answer: −3", "Answer: –3", "Answer: - 3", "Answer: -$3", "x = - 3"])
def test_minus_signs(output: str) -> None:
    assert grade("integer", output, -3, None).outcome is TrialOutcome.PASS


@pytest.mark.parametrize("output", ["Answer: 12,345", "Answer: 12\u202f345", r"Answer: $12{,}345$", r"Answer: 12\,345"])
def test_thousands(output: str) -> None:
    assert grade("integer", output, "12345", None).outcome is TrialOutcome.PASS


@pytest.mark.parametrize("output", ["0", "Answer: 0", "Answer: -0", "Answer: 000", "Answer: 0.0"])
def test_zero_is_an_answer(output: str) -> None:
    assert grade("integer", output, 0, None).outcome is TrialOutcome.PASS


def test_superscripts_are_not_digits() -> None:
    assert grade("integer", "Answer: 4²", 42, None).outcome is TrialOutcome.NO_ANSWER


def test_a_vulgar_fraction_is_not_glued_to_its_whole() -> None:
    assert grade("integer", "Answer: 4½", 42, None).outcome is TrialOutcome.NO_ANSWER


@pytest.mark.parametrize(
    ("output", "when_cut_off"),
    [
        ("Answer: 42\nNow let me check this once mo", TrialOutcome.PASS),
        ("Answer: 42 marb", TrialOutcome.PASS),
        ("The answer is 42. To see why, we", TrialOutcome.PASS),
        ("Answer: 42", TrialOutcome.NO_ANSWER),
        ("6 * 7 = 42", TrialOutcome.NO_ANSWER),
        ("1. 40 and 2 are 42 balls", TrialOutcome.NO_ANSWER),
        ("42", TrialOutcome.NO_ANSWER),
    ],
)
def test_an_output_that_was_cut_off_has_no_ending_and_half_a_last_word(output: str, when_cut_off: TrialOutcome) -> None:
    assert grade("integer", output, 42, None, cut_off=True).outcome is when_cut_off
    assert grade("integer", output, 42, None).outcome is TrialOutcome.PASS
