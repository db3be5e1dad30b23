"""Picking: the one number of a list that lies above or below a limit."""

from __future__ import annotations

from .dice import Dice
from .family import NUMBER_ASK, REPLY, Family, Problem

TEMPLATES = {
    "numbers": "Which of the numbers {numbers} is {side} {limit}?",
    "scores": "The scores were {numbers}. Which score is {side} {limit}?",
    "list": "List: {numbers}. Find the entry that is {side} {limit}.",
}
_LIMITS = range(20, 90, 5)
_SHOWN = 4


def draw(dice: Dice) -> Problem:
    """Four different numbers of 11 to 99, one of them beyond the limit, none equal to it."""
    limit, side = dice.pick(_LIMITS), dice.pick(("above", "below"))
    lower, upper = list(range(11, limit)), list(range(limit + 1, 100))
    inside, outside = (upper, lower) if side == "above" else (lower, upper)
    wanted = dice.pick(inside)
    numbers = dice.shuffled([wanted, *dice.sample(outside, _SHOWN - 1)])
    return Problem(
        core=(side, limit, *sorted(numbers)),
        fields={"numbers": ", ".join(map(str, numbers)), "side": side, "limit": str(limit)},
        expected=wanted,
        answer=str(wanted),
        steps=(", ".join(f"{n} {'yes' if n == wanted else 'no'}" for n in numbers),),
    )


FAMILY = Family("pick", "The one number beyond a limit", "integer", NUMBER_ASK, REPLY, TEMPLATES, draw)
