"""Sequences: the next term of a row that grows or falls by a constant step."""

from __future__ import annotations

from .dice import Dice
from .family import INTEGER_ASK, REPLY, Family, Problem

TEMPLATES = {
    "terms": "The terms of a sequence are {terms}, ... and each step is the same. What is term number {wanted}?",
    "continue": "Continue the pattern {terms}. Which number stands at position {wanted}?",
    "list": "Pattern: {terms}, ...\nGive the number at place {wanted}.",
}
_SHOWN = 5


def draw(dice: Dice) -> Problem:
    """Five terms shown, the sixth wanted; steps of 2 to 12, up or down; all terms are positive."""
    step = dice.between(2, 12) * dice.pick((1, -1))
    first = dice.between(1, 120) + (0 if step > 0 else -6 * step)
    terms = [first + step * i for i in range(_SHOWN + 1)]
    sign, size = ("+", step) if step > 0 else ("-", -step)
    return Problem(
        core=(first, step),
        fields={"terms": ", ".join(map(str, terms[:_SHOWN])), "wanted": str(_SHOWN + 1)},
        expected=terms[-1],
        answer=str(terms[-1]),
        steps=(
            f"{max(terms[:2])} - {min(terms[:2])} = {size}",
            f"{terms[4]} {sign} {size} = {terms[5]}",
        ),
    )


FAMILY = Family("sequence", "The sixth term of an even sequence", "integer", INTEGER_ASK, REPLY, TEMPLATES, draw)
