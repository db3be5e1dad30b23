"""Clock arithmetic: the minutes between two times that are less than two hours apart."""

from __future__ import annotations

from .dice import Dice
from .family import INTEGER_ASK, REPLY, Family, Problem

TEMPLATES = {
    "train": "A train leaves at {start} and arrives at {end} on the same day. How many minutes does the trip take?",
    "between": "How many minutes are there between {start} and {end}?",
    "film": "The film begins at {start} and is over at {end}. How long is it in minutes?",
    "shift": "Start: {start}\nEnd: {end}\nGive the time in between in minutes.",
}
_HOUR = 60


def _clock(minutes: int) -> str:
    return f"{minutes // _HOUR:02d}:{minutes % _HOUR:02d}"


def draw(dice: Dice) -> Problem:
    """A start from 06:01 to 19:59 and an end in the next hour or in the one after it."""
    start = dice.between(6, 19) * _HOUR + dice.between(1, 59)
    first = (start // _HOUR + 1) * _HOUR
    rest = 5 * dice.between(1, 11) + dice.pick((0, _HOUR))
    end = first + rest
    total = end - start
    return Problem(
        core=(start, end),
        fields={"start": _clock(start), "end": _clock(end)},
        expected=total,
        answer=str(total),
        steps=(
            f"{_clock(start)} to {_clock(first)} is {_HOUR} - {start % _HOUR} = {first - start}",
            f"{_clock(first)} to {_clock(end)} is {rest}",
            f"{first - start} + {rest} = {total}",
        ),
    )


FAMILY = Family("clock", "Minutes between two clock times", "integer", INTEGER_ASK, REPLY, TEMPLATES, draw)
