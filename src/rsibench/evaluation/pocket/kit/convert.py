"""Unit conversion: a large and a small unit into small units. The factor is not given."""

from __future__ import annotations

from .dice import Dice
from .family import NUMBER_ASK, REPLY, Family, Problem

TEMPLATES = {
    "express": "Express {n} {big} and {m} {small} in {small}.",
    "how-many": "How many {small} are {n} {big} and {m} {small}?",
    "sum": "{n} {big} + {m} {small} = how many {small}?",
    "convert": "Convert to {small}: {n} {big} {m} {small}.",
}
_UNITS = (
    ("hours", "minutes", 60, 59),
    ("minutes", "seconds", 60, 59),
    ("metres", "centimetres", 100, 99),
    ("feet", "inches", 12, 11),
    ("weeks", "days", 7, 6),
    ("dozens", "pieces", 12, 11),
)


def draw(dice: Dice) -> Problem:
    """2 to 12 of the large unit, less than one large unit of the small one."""
    big, small, factor, most = dice.pick(_UNITS)
    n, m = dice.between(2, 12), dice.between(1, most)
    total = n * factor + m
    return Problem(
        core=(big, n, m),
        fields={"n": str(n), "m": str(m), "big": big, "small": small},
        expected=total,
        answer=str(total),
        steps=(f"{n} * {factor} = {n * factor}", f"{n * factor} + {m} = {total}"),
    )


FAMILY = Family("convert", "Two units into the smaller one", "number", NUMBER_ASK, REPLY, TEMPLATES, draw)
