"""Tallies: how often a word stands in a list."""

from __future__ import annotations

from .dice import Dice
from .family import NUMBER_ASK, REPLY, Family, Problem
from .words import COLOURS

TEMPLATES = {
    "list": "How many times is {word} in this list: {words}?",
    "balls": "These balls are in a row: {words}. How many of them are {word}?",
    "count": "List: {words}. Count the entries that are {word}.",
}


def draw(dice: Dice) -> Problem:
    """Four to seven words out of three colours, the wanted one one to four times."""
    colours = dice.sample(COLOURS, 3)
    wanted, length = dice.between(1, 4), dice.between(4, 7)
    words = dice.shuffled([colours[0]] * wanted + [dice.pick(colours[1:]) for _ in range(length - wanted)])
    counted: list[str] = []
    seen = 0
    for word in words:
        seen += word == colours[0]
        counted.append(f"{word} {seen}" if word == colours[0] else word)
    return Problem(
        core=(colours[0], tuple(words)),
        fields={"word": colours[0], "words": ", ".join(words)},
        expected=wanted,
        answer=str(wanted),
        steps=(", ".join(counted),),
    )


FAMILY = Family("tally", "How often a word stands in a list", "integer", NUMBER_ASK, REPLY, TEMPLATES, draw)
