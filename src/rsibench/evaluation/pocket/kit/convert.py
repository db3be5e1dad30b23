"""Unit conversion: a large and a small unit into small units. The factor is not given."""

from __future__ import annotations

from .dice import Dice
from .family import REPLY, Family, Problem

TEMPLATES = {
    "express": "Express {n} {big} and {m} {small} in {small}.",
    "how-many": "How many {small} are {n} {big} and {m} {small}?",
    "lasts": "A measurement says {n} {big} plus {m} {small}. Give the same amount in {small} only.",
    "convert": "Convert to {small}: {n} {big} {m} {small}.",
}
_UNITS = (
    ("hours", "minutes", 60),
    ("minutes", "seconds", 60),
    ("metres", "centimetres", 100),
    ("kilograms", "grams", 1000),
    ("feet", "inches", 12),
    ("weeks", "days", 7),
    ("days", "hours", 24),
    ("pounds", "ounces", 16),
)
ASK = "End with a line 'Answer: N', where N is a number without a unit."


def draw(dice: Dice) -> Problem:
    """2 to 9 of the large unit, less than one large unit of the small one."""
    big, small, factor = dice.pick(_UNITS)
    n, m = dice.between(2, 9), dice.between(1, factor - 1)
    total = n * factor + m
    return Problem(
        core=(big, n, m),
        fields={"n": f"{n}", "m": f"{m}", "big": big, "small": small},
        expected=total,
        answer=str(total),
        steps=(f"1 {big} = {factor} {small}", f"{n} * {factor} = {n * factor}", f"{n * factor} + {m} = {total}"),
    )


FAMILY = Family("convert", "Two units into the smaller one", "number", ASK, REPLY, TEMPLATES, draw)
