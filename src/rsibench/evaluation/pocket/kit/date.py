"""A day in words as a JSON object of numbers."""

from __future__ import annotations

import json

from .dice import Dice
from .family import Family, Problem
from .words import MONTHS, PEOPLE

TEMPLATES = {
    "born": "{name} was born on {day} {month} {year}.",
    "meeting": "The meeting with {name} is on {month} {day}, {year}.",
    "letter": "Letter to {name}, {day} {month} {year}.",
}
ASK = "Write a JSON object with the keys year, month and day, the month as a number."
_LAST_DAY = 28


def draw(dice: Dice) -> Problem:
    """A day from the 1st to the 28th of any month, from 1950 to 2029."""
    day, month, year = dice.between(1, _LAST_DAY), dice.between(1, len(MONTHS)), dice.between(1950, 2029)
    expected = {"year": year, "month": month, "day": day}
    return Problem(
        core=(year, month, day),
        fields={"name": dice.pick(PEOPLE), "day": str(day), "month": MONTHS[month - 1], "year": str(year)},
        expected=expected,
        answer=json.dumps(expected),
        steps=(f"{MONTHS[month - 1]} = {month}",),
    )


FAMILY = Family("date", "A day in words as a JSON object of numbers", "json", ASK, "{answer}", TEMPLATES, draw)
