"""Kinds of things: which of four words names, say, a tool; options A to D."""

from __future__ import annotations

from .dice import Dice
from .family import CHOICE_ASK, REPLY, Family, Problem, lettered
from .words import KINDS, LETTERS

TEMPLATES = {
    "options-first": "Options: {options}. Which is a kind of {kind}?",
    "find": "Four words: {options}. Find the {kind}.",
    "belongs": "{options}. Which letter names the {kind}?",
}


def draw(dice: Dice) -> Problem:
    """Four words of four kinds."""
    kinds = dice.sample(list(KINDS), len(LETTERS))
    words = {kind: dice.pick(KINDS[kind]) for kind in kinds}
    wanted = words[kinds[0]]
    options = dice.shuffled(list(words.values()))
    letter = LETTERS[options.index(wanted)]
    return Problem(
        core=(kinds[0], *sorted(options)),
        fields={"kind": kinds[0], "options": lettered(options)},
        expected=letter,
        answer=letter,
        steps=(f"{kinds[0]}: {wanted} = {letter}",),
        context={"options": options},
    )


FAMILY = Family("member", "The one word of a kind", "choice", CHOICE_ASK, REPLY, TEMPLATES, draw)
