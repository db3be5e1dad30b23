"""Comparison: which of four products is the largest or the smallest, options A to D."""

from __future__ import annotations

from .dice import Dice
from .family import CHOICE_ASK, REPLY, Family, Problem, lettered
from .words import LETTERS

TEMPLATES = {
    "which": "Options: {options}. Which is the {kind}?",
    "ask-first": "Four products: {options}. Which one is the {kind}?",
    "value": "Work out {options}. Which letter has the {kind} value?",
}


def draw(dice: Dice) -> Problem:
    """Factors 2 to 9; the four products differ."""
    pairs: list[tuple[int, int]] = []
    while len(pairs) < len(LETTERS):
        pair = (dice.between(2, 9), dice.between(2, 9))
        if all(pair[0] * pair[1] != a * b for a, b in pairs):
            pairs.append(pair)
    kind = dice.pick(("largest", "smallest"))
    values = [a * b for a, b in pairs]
    best = max(values) if kind == "largest" else min(values)
    letter = LETTERS[values.index(best)]
    texts = [f"{a} * {b}" for a, b in pairs]
    return Problem(
        core=(kind, *sorted(tuple(sorted(pair)) for pair in pairs)),
        fields={"kind": kind, "options": lettered(texts)},
        expected=letter,
        answer=letter,
        steps=(lettered([str(value) for value in values]), f"{kind}: {best}"),
        context={"options": texts},
    )


FAMILY = Family("compare", "The largest or smallest of four products", "choice", CHOICE_ASK, REPLY, TEMPLATES, draw)
