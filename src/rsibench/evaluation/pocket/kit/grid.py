"""Reading a list of results: what one of the people has, or what two of them have together."""

from __future__ import annotations

from .dice import Dice
from .family import NUMBER_ASK, REPLY, Family, Problem
from .words import PEOPLE

TEMPLATES = {
    "points": "Points: {rows}. How many points do we count for {who}?",
    "ask-first": "What is the total of {who}? {rows}.",
    "sum": "{rows}. Give the number of {who}.",
}
_ROWS = 4


def draw(dice: Dice) -> Problem:
    """Four people with 2 to 25 points; one or two of them are asked for."""
    people = dice.sample(PEOPLE, _ROWS)
    points = [dice.between(2, 25) for _ in people]
    asked = dice.sample(range(_ROWS), dice.between(1, 2))
    total = sum(points[i] for i in asked)
    found = (", ".join(f"{people[i]} {points[i]}" for i in asked),)
    added = (" + ".join(str(points[i]) for i in asked) + f" = {total}",) if len(asked) > 1 else ()
    return Problem(
        core=(tuple(points), *sorted(asked)),
        fields={
            "rows": ", ".join(f"{name} {points[i]}" for i, name in enumerate(people)),
            "who": " and ".join(people[i] for i in asked),
        },
        expected=total,
        answer=str(total),
        steps=found + added,
    )


FAMILY = Family("grid", "One entry of a list, or the sum of two", "number", NUMBER_ASK, REPLY, TEMPLATES, draw)
