"""The aime grader: integers in TeX boxes. 36 is right in every case here."""

from __future__ import annotations

import pytest

from rsibench.evaluation.graders import grade
from rsibench.outcomes import TrialOutcome

RIGHT = [
    r"\boxed{36}",
    r"\boxed{036}",
    r"The count is $\boxed{36}$.",
    r"\fbox{36}",
    r"\boxed 36",
    r"$\boxed{\textbf{36}}$",
    r"\boxed{\mathrm{36}}",
    r"\boxed{ 36 \text{ squares} }",
    r"\boxed{\text{so we get } 36}",
    r"\boxed{m+n = 36}",
    r"\boxed{x \equiv 36 \pmod{100}}",
    r"\boxed{36^\circ}",
    r"\boxed{36.0}",
    "\\boxed{３６}",
    r"At first \boxed{12}. That misses the reflections. All in all \boxed{36}.",
    "Part one gives \\boxed{12}\nand the whole \\boxed{36}",
    r"\boxed{36}, that is, \boxed{036}",
    r"The form asks for \boxed{}. We find \boxed{36}.",
    "<think>\\boxed{35}</think>\\boxed{36}",
    "No box, but:\nAnswer: 36",
    "**Answer: 36**",
    "36",
    "$36$",
]
NO_ANSWER = [
    "",
    r"\boxed{}",
    r"It is an integer from 0 to 36 in \boxed{}.",
    r"It is \boxed{36} or \boxed{63}.",
    r"At first \boxed{36}, and after the correction \boxed{3",
    r"\boxed{3, 6}",
    r"\boxed{12 \text{ or } 36}",
    r"\boxed{\text{none}}",
    "The last number here is 36",
    "So n = 36",
]
WRONG = [
    (r"\boxed{-36}", "-36"),
    (r"\boxed{3,600}", "3600"),
    (r"\boxed{\frac{36}{7}}", "36/7"),
    (r"\boxed{6^{2}}", "6^2"),
    (r"\boxed{63}", "63"),
    (r"\boxed{0}", "0"),
    ("I get \\boxed{35}.\nAnswer: 36", "35"),
]


@pytest.mark.parametrize("output", RIGHT)
def test_reads_the_final_box(output: str) -> None:
    assert grade("aime", output, "036", None).outcome is TrialOutcome.PASS, grade("aime", output, "036", None)


@pytest.mark.parametrize("output", NO_ANSWER)
def test_no_single_box(output: str) -> None:
    verdict = grade("aime", output, 36, None)
    assert (verdict.outcome, verdict.extracted) == (TrialOutcome.NO_ANSWER, None), verdict


@pytest.mark.parametrize(("output", "shown"), WRONG)
def test_wrong_boxes_are_shown(output: str, shown: str) -> None:
    verdict = grade("aime", output, 36, None)
    assert (verdict.outcome, verdict.extracted) == (TrialOutcome.FAIL, shown), verdict


def test_zero_in_a_box_is_an_answer() -> None:
    assert grade("aime", r"\boxed{000}", 0, None).outcome is TrialOutcome.PASS
