"""Unit conversion: a large and a small unit into small units, options A to D. The factor is not given."""

from __future__ import annotations

from .dice import Dice
from .family import CHOICE_ASK, REPLY, Family, Problem, lettered
from .words import LETTERS

TEMPLATES = {
    "how-many": "Options: {options}. How many {small} are {n} {big} and {m} {small}?",
    "express": "{options}. Which letter stands for {n} {big} and {m} {small} in {small}?",
    "sum": "Choose from {options}. {n} {big} + {m} {small} = how many {small}?",
}
_UNITS = (
    ("hours", "minutes", 60),
    ("minutes", "seconds", 60),
    ("metres", "centimetres", 100),
    ("feet", "inches", 12),
    ("weeks", "days", 7),
    ("dozens", "pieces", 12),
)


def draw(dice: Dice) -> Problem:
    """2 to 12 of the large unit and less than one more in small units; wrong options are near misses."""
    big, small, factor = dice.pick(_UNITS)
    n, m = dice.between(2, 12), dice.between(1, factor - 1)
    total = n * factor + m
    near = (total + factor, total - factor, n * factor, n * 10 + m, total + 10, total + 1)
    wrong = dice.sample(sorted({value for value in near if value not in (total, 0)}), len(LETTERS) - 1)
    options = [str(value) for value in dice.shuffled([total, *wrong])]
    letter = LETTERS[options.index(str(total))]
    return Problem(
        core=(big, n, m),
        fields={"n": str(n), "m": str(m), "big": big, "small": small, "options": lettered(options)},
        expected=letter,
        answer=letter,
        steps=(f"{n} * {factor} = {n * factor}", f"{n * factor} + {m} = {total}", f"{total} = {letter}"),
        context={"options": options},
    )


FAMILY = Family("convert", "Two units into the smaller one", "choice", CHOICE_ASK, REPLY, TEMPLATES, draw)
