"""Weekday arithmetic: which day it is in so many days, options A to D."""

from __future__ import annotations

from .dice import Dice
from .family import CHOICE_ASK, REPLY, Family, Problem
from .words import DAYS, LETTERS

TEMPLATES = {
    "today": "Today is {day}. Which day of the week is it in {n} days?\n{options}",
    "after": "What weekday comes {n} days after a {day}?\n{options}",
    "job": "A job starts on a {day} and ends {n} days later. On which day does it end?\n{options}",
}
_WEEK = 7


def draw(dice: Dice) -> Problem:
    """8 to 286 days, never whole weeks."""
    day = dice.between(0, _WEEK - 1)
    weeks, rest = dice.between(1, 40), dice.between(1, 6)
    n = weeks * _WEEK + rest
    end = DAYS[(day + rest) % _WEEK]
    options = dice.shuffled([end, *dice.sample([d for d in DAYS if d != end], 3)])
    letter = LETTERS[options.index(end)]
    walk = [DAYS[(day + i + 1) % _WEEK] for i in range(rest)]
    return Problem(
        core=(day, n),
        fields={
            "day": DAYS[day],
            "n": str(n),
            "options": "\n".join(f"{LETTERS[i]}) {d}" for i, d in enumerate(options)),
        },
        expected=letter,
        answer=letter,
        steps=(f"{n} - {weeks * _WEEK} = {rest}", f"{DAYS[day]} + {rest}: {', '.join(walk)}", f"{end} is {letter}"),
        context={"options": options},
    )


FAMILY = Family("weekday", "The weekday after so many days", "choice", CHOICE_ASK, REPLY, TEMPLATES, draw)
