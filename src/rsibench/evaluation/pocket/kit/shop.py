"""Shopping totals: two products and their sum."""

from __future__ import annotations

from .dice import Dice
from .family import INTEGER_ASK, REPLY, Family, Problem
from .words import GOODS, PEOPLE

TEMPLATES = {
    "buys": "{name} buys {a} {x} at ${p} each and {b} {y} at ${q} each. How many dollars does {name} pay in total?",
    "price-first": "{x} cost ${p} each and {y} cost ${q} each. What is the total price of {a} {x} and {b} {y}?",
    "receipt": "Receipt: {a} {x}, ${p} per piece; {b} {y}, ${q} per piece. What is the total in dollars?",
    "how-much": "How much do {a} {x} and {b} {y} cost together if one of the {x} is ${p} and one of the {y} is ${q}?",
}


def draw(dice: Dice) -> Problem:
    """Counts 2 to 6, prices 2 to 12 dollars."""
    (a, p), (b, q) = ((dice.between(2, 6), dice.between(2, 12)) for _ in range(2))
    x, y = dice.sample(GOODS, 2)
    total = a * p + b * q
    return Problem(
        core=tuple(sorted([(a, p), (b, q)])),
        fields={"name": dice.pick(PEOPLE), "a": f"{a}", "p": f"{p}", "x": x, "b": f"{b}", "q": f"{q}", "y": y},
        expected=total,
        answer=str(total),
        steps=(f"{a} * {p} = {a * p}", f"{b} * {q} = {b * q}", f"{a * p} + {b * q} = {total}"),
    )


FAMILY = Family("shop", "Total price of two kinds of goods", "integer", INTEGER_ASK, REPLY, TEMPLATES, draw)
