"""Ranking numbers: the second largest or second smallest of three."""

from __future__ import annotations

from .dice import Dice
from .family import NUMBER_ASK, REPLY, Family, Problem

TEMPLATES = {
    "numbers": "What is the second {kind} number in this list: {numbers}?",
    "scores": "The scores were {numbers}. Which score is the second {kind}?",
    "rank": "Find the second {kind} of these numbers: {numbers}.",
}


def draw(dice: Dice) -> Problem:
    """Three different numbers of 11 to 99."""
    numbers = dice.sample(range(11, 100), 3)
    kind = dice.pick(("largest", "smallest"))
    ranked = sorted(numbers, reverse=kind == "largest")
    return Problem(
        core=(kind, tuple(sorted(numbers))),
        fields={"kind": kind, "numbers": ", ".join(map(str, numbers))},
        expected=ranked[1],
        answer=str(ranked[1]),
        steps=(f"{kind} first: " + ", ".join(map(str, ranked)),),
    )


FAMILY = Family("second", "The second largest or smallest of three", "integer", NUMBER_ASK, REPLY, TEMPLATES, draw)
