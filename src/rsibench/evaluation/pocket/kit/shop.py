"""Shopping totals: a number of goods at one price, and one extra cost."""

from __future__ import annotations

from .dice import Dice
from .family import NUMBER_ASK, REPLY, Family, Problem
from .words import GOODS, PEOPLE

TEMPLATES = {
    "buys": "{name} buys {n} {x} at ${p} each and pays ${d} for delivery. How many dollars is that in total?",
    "price-first": "{x} cost ${p} each. What is the price of {n} {x} if the delivery costs ${d} more?",
    "receipt": "Receipt: {n} {x}, ${p} per piece, delivery ${d}. What is the total in dollars?",
    "slip": "A slip about {x} says {n} * {p} + {d} dollars. What is the result?",
}


def draw(dice: Dice) -> Problem:
    """2 to 9 pieces at 2 to 9 dollars, 1 to 15 dollars of delivery."""
    n, p, d = dice.between(2, 9), dice.between(2, 9), dice.between(1, 15)
    total = n * p + d
    return Problem(
        core=(n, p, d),
        fields={"name": dice.pick(PEOPLE), "x": dice.pick(GOODS), "n": str(n), "p": str(p), "d": str(d)},
        expected=total,
        answer=str(total),
        steps=(f"{n} * {p} = {n * p}", f"{n * p} + {d} = {total}"),
    )


FAMILY = Family("shop", "Goods at one price, plus delivery", "integer", NUMBER_ASK, REPLY, TEMPLATES, draw)
