"""Ages: one sum or difference, and the wording says which."""

from __future__ import annotations

from .dice import Dice
from .family import NUMBER_ASK, REPLY, Family, Problem
from .words import PEOPLE

TEMPLATES = {
    "two": "{name} is {age} years old. {other} is {n} years {older}. How old is {other}?",
    "time": "{name} is {age} years old. How old {was} {name} {when}?",
    "short": "{name}: {age} years. {other}: {n} years {older} than {name}. What is the age of {other}?",
}


def draw(dice: Dice) -> Problem:
    """Ages of 21 to 79, differences of 2 to 9 years in either direction."""
    age, n, up = dice.between(21, 79), dice.between(2, 9), dice.pick((True, False))
    name, other = dice.sample(PEOPLE, 2)
    total = age + n if up else age - n
    return Problem(
        core=(age, n, up),
        fields={
            "name": name,
            "other": other,
            "age": str(age),
            "n": str(n),
            "older": "older" if up else "younger",
            "was": "will" if up else "was",
            "when": f"be in {n} years" if up else f"{n} years ago",
        },
        expected=total,
        answer=str(total),
        steps=(f"{age} {'+' if up else '-'} {n} = {total}",),
    )


FAMILY = Family("age", "An age some years older or younger", "integer", NUMBER_ASK, REPLY, TEMPLATES, draw)
