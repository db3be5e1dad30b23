"""Extraction to JSON: an order in a sentence, with the total worked out."""

from __future__ import annotations

import json

from .dice import Dice
from .family import Family, Problem
from .words import CITIES, GOODS, PEOPLE

TEMPLATES = {
    "ordered": "{name} from {city} ordered {n} {x} at ${p} each.",
    "note": "Note: send {n} {x} to {name} in {city}. Price per piece: ${p}.",
    "mail": "Hello, this is {name}. I live in {city} and I would like {n} of your {x}. I saw the price is ${p} for one.",
}
ASK = (
    'Write the order as one JSON object with the keys "customer", "city", "item" and "total" '
    "(total is a number: pieces times price)."
)


def draw(dice: Dice) -> Problem:
    """2 to 9 pieces at 3 to 29 dollars."""
    n, p = dice.between(2, 9), dice.between(3, 29)
    name, city, x = dice.pick(PEOPLE), dice.pick(CITIES), dice.pick(GOODS)
    expected = {"customer": name, "city": city, "item": x, "total": n * p}
    return Problem(
        core=(name, city, x, n, p),
        fields={"name": name, "city": city, "x": x, "n": f"{n}", "p": f"{p}"},
        expected=expected,
        answer=json.dumps(expected),
        steps=(f"{n} * {p} = {n * p}",),
    )


FAMILY = Family("order", "An order in a sentence as a JSON object", "json", ASK, "{answer}", TEMPLATES, draw)
