"""Comparison: which of four products is the largest or the smallest, options A to D."""

from __future__ import annotations

from .dice import Dice
from .family import CHOICE_ASK, REPLY, Family, Problem
from .words import LETTERS

TEMPLATES = {
    "which": "Which of these is the {kind}?\n{options}",
    "boxes": "Four trays hold rows of eggs (rows * eggs in a row). Which tray holds the {more} eggs?\n{options}",
    "value": "Work out each product and pick the {kind} value.\n{options}",
}


def draw(dice: Dice) -> Problem:
    """Factors 2 to 9 and 3 to 12; the four products differ."""
    pairs: list[tuple[int, int]] = []
    while len(pairs) < len(LETTERS):
        pair = (dice.between(2, 9), dice.between(3, 12))
        if all(pair[0] * pair[1] != a * b for a, b in pairs):
            pairs.append(pair)
    kind, more = dice.pick([("largest", "most"), ("smallest", "fewest")])
    values = [a * b for a, b in pairs]
    best = max(values) if kind == "largest" else min(values)
    letter = LETTERS[values.index(best)]
    lines = [f"{LETTERS[i]}) {a} * {b}" for i, (a, b) in enumerate(pairs)]
    return Problem(
        core=(kind, *sorted(pairs)),
        fields={"kind": kind, "more": more, "options": "\n".join(lines)},
        expected=letter,
        answer=letter,
        steps=(*(f"{line} = {values[i]}" for i, line in enumerate(lines)), f"{kind}: {best}"),
        context={"options": [f"{a} * {b}" for a, b in pairs]},
    )


FAMILY = Family("compare", "The largest or smallest of four products", "choice", CHOICE_ASK, REPLY, TEMPLATES, draw)
