"""Extraction to JSON: who ordered how many of what, and where it goes."""

from __future__ import annotations

import json

from .dice import Dice
from .family import Family, Problem
from .words import CITIES, GOODS, PEOPLE

TEMPLATES = {
    "ordered": "{name} from {city} ordered {n} {x} at ${p} each.",
    "note": "Note: send {n} {x} to {name} in {city}. Price per piece: ${p}.",
    "mail": "Hello, this is {name}. I live in {city} and would like {n} of your {x}. The price is ${p} for one.",
}
ASK = "Write a JSON object with the keys name, city and count."


def draw(dice: Dice) -> Problem:
    """2 to 60 pieces at 3 to 29 dollars."""
    n, p = dice.between(2, 60), dice.between(3, 29)
    name, city, x = dice.pick(PEOPLE), dice.pick(CITIES), dice.pick(GOODS)
    expected = {"name": name, "city": city, "count": n}
    return Problem(
        core=(name, city, n),
        fields={"name": name, "city": city, "x": x, "n": str(n), "p": str(p)},
        expected=expected,
        answer=json.dumps(expected),
        steps=(f"{name}, {city}, {n} {x}",),
    )


FAMILY = Family("order", "An order in a sentence as a JSON object", "json", ASK, "{answer}", TEMPLATES, draw)
