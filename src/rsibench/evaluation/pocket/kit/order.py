"""Extraction to JSON: who ordered how many of what, and where it goes."""

from __future__ import annotations

import json

from .dice import Dice
from .family import Family, Problem
from .words import CITIES, GOODS, PEOPLE

TEMPLATES = {
    "ordered": "{name} from {city} ordered {n} {x} at ${p} each.",
    "note": "Note: send {n} {x} to {name} in {city}. Price per piece: ${p}.",
    "mail": "Hello, this is {name}. I live in {city} and I would like {n} of your {x}. The price is ${p} for one.",
}
ASK = 'Fill in this JSON object for the text above: {{"customer": "", "city": "", "item": "", "count": 0}}'


def draw(dice: Dice) -> Problem:
    """2 to 60 pieces at 3 to 29 dollars."""
    n, p = dice.between(2, 60), dice.between(3, 29)
    name, city, x = dice.pick(PEOPLE), dice.pick(CITIES), dice.pick(GOODS)
    expected = {"customer": name, "city": city, "item": x, "count": n}
    return Problem(
        core=(name, city, x, n),
        fields={"name": name, "city": city, "x": x, "n": f"{n}", "p": f"{p}"},
        expected=expected,
        answer=json.dumps(expected),
        steps=(f"customer is {name}, city is {city}, item is {x}, count is {n}",),
    )


FAMILY = Family("order", "An order in a sentence as a JSON object", "json", ASK, "{answer}", TEMPLATES, draw)
