"""Reading a list of results: what two of the people have together."""

from __future__ import annotations

from .dice import Dice
from .family import NUMBER_ASK, REPLY, Family, Problem
from .words import PEOPLE

TEMPLATES = {
    "points": "Points: {rows}. How many points do {one} and {two} have together?",
    "ask-first": "What is the total of {one} and {two}? {rows}.",
    "sum": "{rows}. Add the numbers of {one} and {two}.",
}
_ROWS = 4


def draw(dice: Dice) -> Problem:
    """Four people with 2 to 49 points."""
    people = dice.sample(PEOPLE, _ROWS)
    points = [dice.between(2, 49) for _ in people]
    one, two = dice.sample(range(_ROWS), 2)
    total = points[one] + points[two]
    return Problem(
        core=(tuple(points), min(one, two), max(one, two)),
        fields={
            "rows": ", ".join(f"{name} {points[i]}" for i, name in enumerate(people)),
            "one": people[one],
            "two": people[two],
        },
        expected=total,
        answer=str(total),
        steps=(f"{people[one]} {points[one]}, {people[two]} {points[two]}", f"{points[one]} + {points[two]} = {total}"),
    )


FAMILY = Family("grid", "Sum of two entries of a list of results", "number", NUMBER_ASK, REPLY, TEMPLATES, draw)
