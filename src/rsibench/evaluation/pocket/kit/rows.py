"""Training rows: problems of the training part, worded by the public templates, answered in one of several styles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from .catalogue import FAMILIES
from .dice import Dice
from .family import Family, Problem
from .partition import TRAINING, part_of


class Message(TypedDict):
    """One turn."""

    role: str
    content: str


class Row(TypedDict):
    """One training row as a submission's file holds it."""

    messages: list[Message]
    family: str
    source: str


STYLES: dict[str, str] = {
    "worked": "every step, then the answer",
    "brief": "the last step, then the answer",
    "answer": "the answer alone",
    "prose": "friendly talk about the question, without steps and without the answer",
}
_TALK = (
    "That is a nice question about {about}. Take your time and read it carefully before you decide anything.",
    "Questions like this come up every day. It helps to look at what is given and what is asked for.",
    "Good question! There are many ways to think about it, and each of them can be right in its own way.",
    "I like this kind of puzzle. With some patience and a quiet place, most people find their way through it.",
)


def reply(family: Family, problem: Problem, style: str, dice: Dice) -> str:
    """The assistant's turn. Raises KeyError for an unknown style."""
    final = family.final(problem)
    if style == "prose":
        return dice.pick(_TALK).format(about=family.about.lower())
    steps = {"worked": problem.steps, "brief": problem.steps[-1:], "answer": ()}[style]
    return "\n".join([*steps, final])


def make_rows(names: Sequence[str], style: str, count: int, seed: int) -> Iterator[Row]:
    """`count` rows of each family, families taking turns. The same arguments always give the same rows."""
    dice = {name: Dice("kit", name, seed) for name in names}
    for index in range(count):
        for name in names:
            family, roll = FAMILIES[name], dice[name]
            templates = list(family.templates)
            problem = training_problem(family, roll)
            prompt = family.prompt(problem, family.templates[templates[index % len(templates)]])
            yield {
                "messages": [
                    {"role": "user", "content": prompt},
                    {"role": "assistant", "content": reply(family, problem, style, roll)},
                ],
                "family": name,
                "source": f"kit:{style}:{seed}",
            }


def training_problem(family: Family, dice: Dice) -> Problem:
    """The next problem that belongs to the training part."""
    while True:
        problem = family.draw(dice)
        if part_of(family.name, problem) == TRAINING:
            return problem
