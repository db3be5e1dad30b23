"""Kinds of things: how many of five words name, say, an animal."""

from __future__ import annotations

from .dice import Dice
from .family import NUMBER_ASK, REPLY, Family, Problem
from .words import KINDS, PLURALS

TEMPLATES = {
    "these": "How many of these are {kinds}: {words}?",
    "list": "List: {words}. Count the {kinds}.",
    "shelf": "On a picture we see {words}. What is the number of {kinds}?",
}
_SHOWN = 5


def draw(dice: Dice) -> Problem:
    """Five different words, one to four of them of the wanted kind."""
    kind = dice.pick(list(KINDS))
    wanted = dice.between(1, _SHOWN - 1)
    others = [word for name, words in KINDS.items() if name != kind for word in words]
    words = dice.shuffled(dice.sample(KINDS[kind], wanted) + dice.sample(others, _SHOWN - wanted))
    counted: list[str] = []
    for word in words:
        seen = sum(" " in text for text in counted)
        counted.append(f"{word} {seen + 1}" if word in KINDS[kind] else word)
    return Problem(
        core=(kind, *sorted(words)),
        fields={"kinds": PLURALS[kind], "words": ", ".join(words)},
        expected=wanted,
        answer=str(wanted),
        steps=(", ".join(counted),),
    )


FAMILY = Family("kinds", "How many words name a thing of one kind", "integer", NUMBER_ASK, REPLY, TEMPLATES, draw)
