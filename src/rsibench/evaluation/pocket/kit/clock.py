"""Clock arithmetic: the minutes between two times of one day."""

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
    """From 06:05 on, 1 to 4 full hours and two rests, in steps of five minutes."""
    start = dice.between(6, 17) * _HOUR + 5 * dice.between(1, 11)
    end = (start // _HOUR + 1 + dice.between(1, 4)) * _HOUR + 5 * dice.between(1, 11)
    first, last = (start // _HOUR + 1) * _HOUR, end // _HOUR * _HOUR
    total = end - start
    return Problem(
        core=(start, end),
        fields={"start": _clock(start), "end": _clock(end)},
        expected=total,
        answer=str(total),
        steps=(
            f"{_clock(start)} to {_clock(first)} is {first - start}",
            f"{_clock(first)} to {_clock(last)} is {last - first}",
            f"{_clock(last)} to {_clock(end)} is {end - last}",
            f"{first - start} + {last - first} + {end - last} = {total}",
        ),
    )


FAMILY = Family("clock", "Minutes between two clock times", "integer", INTEGER_ASK, REPLY, TEMPLATES, draw)
