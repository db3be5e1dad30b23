"""Reading a list of results: what one of the people has after a bonus."""

from __future__ import annotations

from .dice import Dice
from .family import NUMBER_ASK, REPLY, Family, Problem
from .words import PEOPLE

TEMPLATES = {
    "points": "Points: {rows}. {name} gets {bonus} more. How many points does {name} have now?",
    "ask-first": "How many coins has {name} after finding {bonus} more? {rows}.",
    "sum": "{rows}. Add {bonus} to the number of {name}.",
}
_ROWS = 4


def draw(dice: Dice) -> Problem:
    """Four people with 2 to 25 points, a bonus of 1 to 9 for one of them."""
    people = dice.sample(PEOPLE, _ROWS)
    points = [dice.between(2, 25) for _ in people]
    row, bonus = dice.between(0, _ROWS - 1), dice.between(1, 9)
    total = points[row] + bonus
    return Problem(
        core=(tuple(points), row, bonus),
        fields={
            "rows": ", ".join(f"{name} {points[i]}" for i, name in enumerate(people)),
            "name": people[row],
            "bonus": str(bonus),
        },
        expected=total,
        answer=str(total),
        steps=(f"{people[row]} {points[row]}", f"{points[row]} + {bonus} = {total}"),
    )


FAMILY = Family("grid", "One entry of a list, with a bonus", "number", NUMBER_ASK, REPLY, TEMPLATES, draw)
