"""Sharing: what is left over when things are shared out evenly."""

from __future__ import annotations

from .dice import Dice
from .family import INTEGER_ASK, REPLY, Family, Problem
from .words import PEOPLE, PRODUCE

TEMPLATES = {
    "left": "{name} shares {total} {x} evenly among {k} friends. How many {x} are left over?",
    "boxes": "{total} {x} are packed into boxes of {k}. How many {x} do not fit into a full box?",
    "rows": "{name} puts {total} {x} into rows of {k} until no full row can be made. How many {x} remain?",
}


def draw(dice: Dice) -> Problem:
    """Groups of 3 to 12, quotient 2 to 15, a remainder of at least 1."""
    k = dice.between(3, 12)
    quotient, rest = dice.between(2, 15), dice.between(1, k - 1)
    total = k * quotient + rest
    return Problem(
        core=(total, k),
        fields={"name": dice.pick(PEOPLE), "total": str(total), "k": str(k), "x": dice.pick(PRODUCE)},
        expected=rest,
        answer=str(rest),
        steps=(f"{quotient} * {k} = {quotient * k}", f"{total} - {quotient * k} = {rest}"),
    )


FAMILY = Family("share", "What is left after sharing evenly", "integer", INTEGER_ASK, REPLY, TEMPLATES, draw)
