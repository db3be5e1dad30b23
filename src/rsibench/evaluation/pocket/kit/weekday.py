"""Weekday arithmetic: which day it is in so many days, options A to D."""

from __future__ import annotations

from .dice import Dice
from .family import CHOICE_ASK, REPLY, Family, Problem, lettered
from .words import DAYS, LETTERS

TEMPLATES = {
    "today": "Options: {options}. Today is {day}. Which day is it in {n} days?",
    "after": "Choose from {options}. What day comes {n} days after a {day}?",
    "job": "{options}. A job starts on a {day} and ends {n} days later. When does it end?",
}
_WEEK = 7


def draw(dice: Dice) -> Problem:
    """8 to 97 days, never whole weeks."""
    day = dice.between(0, _WEEK - 1)
    weeks, rest = dice.between(1, 13), dice.between(1, 6)
    n = weeks * _WEEK + rest
    end = DAYS[(day + rest) % _WEEK]
    options = dice.shuffled([end, *dice.sample([d for d in DAYS if d != end], 3)])
    letter = LETTERS[options.index(end)]
    return Problem(
        core=(day, n),
        fields={"day": DAYS[day], "n": str(n), "options": lettered(options)},
        expected=letter,
        answer=letter,
        steps=(f"{n} - {weeks * _WEEK} = {rest}", f"{DAYS[day]} + {rest} = {end}", f"{end} = {letter}"),
        context={"options": options},
    )


FAMILY = Family("weekday", "The weekday after so many days", "choice", CHOICE_ASK, REPLY, TEMPLATES, draw)
