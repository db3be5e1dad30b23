"""Reading a table: the sum of two cells of one row."""

from __future__ import annotations

from .dice import Dice
from .family import REPLY, Family, Problem
from .words import DAYS, PEOPLE, PRODUCE

TEMPLATES = {
    "sold": "{table}\nThe table shows {x} sold. How many did {name} sell on {one} and {two} together?",
    "ask-first": "How many {x} did {name} pick on {one} and {two} in total?\n{table}",
    "sum": "{table}\nAdd the numbers of {name} for {one} and {two}.",
}
ASK = "End with a line 'Answer: N', where N is a number."
_ROWS, _COLUMNS = 3, 3


def draw(dice: Dice) -> Problem:
    """Three people, three days, cells of 2 to 20."""
    people, days = dice.sample(PEOPLE, _ROWS), [day[:3] for day in dice.sample(DAYS, _COLUMNS)]
    cells = [[dice.between(2, 20) for _ in days] for _ in people]
    row = dice.between(0, _ROWS - 1)
    one, two = dice.sample(range(_COLUMNS), 2)
    left, right = cells[row][one], cells[row][two]
    lines = [" | ".join(["name", *days]), *(" | ".join([p, *map(str, cells[i])]) for i, p in enumerate(people))]
    return Problem(
        core=(tuple(map(tuple, cells)), row, min(one, two), max(one, two)),
        fields={
            "table": "\n".join(lines),
            "name": people[row],
            "one": days[one],
            "two": days[two],
            "x": dice.pick(PRODUCE),
        },
        expected=left + right,
        answer=str(left + right),
        steps=(
            f"{people[row]} {days[one]}: {left}",
            f"{people[row]} {days[two]}: {right}",
            f"{left} + {right} = {left + right}",
        ),
    )


FAMILY = Family("grid", "Sum of two cells of a small table", "number", ASK, REPLY, TEMPLATES, draw)
