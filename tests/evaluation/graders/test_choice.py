"""The choice and gpqa graders. B is right in every case here."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from rsibench.evaluation.graders import grade
from rsibench.outcomes import TrialOutcome

RIGHT = [
    "Answer: B",
    "Copper conducts better than the others.\nAnswer: B",
    "**Answer: B**",
    "**Answer:** **B**",
    "Answer: (B)",
    "Answer: [B]",
    "Answer: B.",
    "Answer: B)",
    "Answer: $B$",
    r"Answer: $\boxed{\text{B}}$",
    r"Answer: \textbf{B}",
    "Answer: option B",
    "Answer: Option (B)",
    "Answer: b",
    "Answer: (b)",
    "Answer: B, because A melts first",
    "Answer: B since the charge is conserved",
    "Answer: B (not A)",
    "Answer: B) A current flows",
    "Answer: B: copper",
    "Answer:\nB",
    "Final answer: B",
    "The answer is: B",
    "<think>Answer: A</think>Answer: B",
    "Answer: A\nThat forgets the sign.\nAnswer: B",
    "B",
    "(B)",
    "**B**",
    "B.",
    "Only copper is left, so the answer is B",
    "Only copper is left, so it is (B).",
    "The answer is B. I hope this explains the other options, A and C, too!",
    r"Therefore we choose $\boxed{B}$.",
    "The letter of the right option is 'B'.",
    "The correct answer is B = 2 * 3 = 6.",
    "The answer is B, because iron rusts and gold does not.",
    "The answer is B) copper",
    "Ａｎｓｗｅｒ：Ｂ",
]
NO_ANSWER = [
    "",
    "Answer:",
    "Answer: Both are plausible",
    "Answer: Better not to say",
    "Answer: B or C",
    "Answer: B and C",
    "Answer: B, C",
    "Answer: B/C",
    "Answer: BC",
    "Answer: B (70%) or D (30%)",
    "Answer: A good guess would be copper",
    "Answer: none of them",
    "Answer: E",
    "Answer: 2",
    "Answer: a bird",
    "B is wrong and so is C",
    "Options: (A) (B)",
    "I would rule out A. That leaves B",
    "The answer is B or C",
    "The answer is A bit unclear",
    "The answer is between B and C",
    "<think>Answer: B",
    r"\boxed{B} or \boxed{C}",
    "Answer: B\nAnswer: unclear",
    "The answer is B. On reflection the answer is C.",
]


@pytest.mark.parametrize("grader", ["choice", "gpqa"])
@pytest.mark.parametrize("output", RIGHT)
def test_reads_the_stated_letter(output: str, grader: str) -> None:
    verdict = grade(grader, output, "B", None)
    assert (verdict.outcome, verdict.extracted) == (TrialOutcome.PASS, "B"), verdict


@pytest.mark.parametrize("grader", ["choice", "gpqa"])
@pytest.mark.parametrize("output", NO_ANSWER)
def test_no_single_letter(output: str, grader: str) -> None:
    verdict = grade(grader, output, "B", None)
    assert (verdict.outcome, verdict.extracted) == (TrialOutcome.NO_ANSWER, None), verdict


@pytest.mark.parametrize("output", ["Answer: A", "Answer: A)", "A", "Answer: A, because B floats"])
def test_another_letter_is_wrong(output: str) -> None:
    verdict = grade("gpqa", output, "B", None)
    assert (verdict.outcome, verdict.extracted) == (TrialOutcome.FAIL, "A")


OPTIONS: JsonValue = {"options": ["12 * 3", "Vitamin C", "a red door", "6 * 6"]}


@pytest.mark.parametrize(
    ("output", "letter"),
    [
        ("Answer: 12 * 3", "A"),
        ("Answer: A) 12 * 3", "A"),
        ("Answer: Vitamin C", "B"),
        ("Answer: B. Vitamin C", "B"),
        ("Answer: vitamin c.", "B"),
        ("A red door", "C"),
        ("The answer is a red door.", "C"),
        ("Answer: 6 * 6", "D"),
    ],
)
def test_an_options_text_counts_as_its_letter(output: str, letter: str) -> None:
    assert grade("choice", output, letter, OPTIONS).outcome is TrialOutcome.PASS


def test_equal_option_texts_name_no_option() -> None:
    context: JsonValue = {"options": ["left", "right", "left"]}
    assert grade("choice", "Answer: left", "A", context).outcome is TrialOutcome.NO_ANSWER
    assert grade("choice", "Answer: right", "B", context).outcome is TrialOutcome.PASS


@pytest.mark.parametrize(("letters", "outcome"), [("ABCDE", TrialOutcome.PASS), ("ABC", TrialOutcome.NO_ANSWER)])
def test_only_offered_letters_are_answers(letters: str, outcome: TrialOutcome) -> None:
    expected = "E" if "E" in letters else "A"
    assert grade("choice", "Answer: E", expected, {"letters": letters}).outcome is outcome
