"""Order puzzles: two comparisons of three people, options A to C."""

from __future__ import annotations

from .dice import Dice
from .family import CHOICE_ASK, REPLY, Family, Problem, lettered
from .words import PEOPLE

TEMPLATES = {
    "options-first": "Options: {options}. {facts} Who is the {kind}?",
    "facts": "{options}. {facts} Which letter is the {kind} person?",
    "find": "Three people: {options}. {facts} Find the {kind} one.",
}
_RELATIONS = (("taller", "tallest", "shortest"), ("older", "oldest", "youngest"), ("faster", "fastest", "slowest"))
_LETTERS = ("A", "B", "C")


def draw(dice: Dice) -> Problem:
    """Neighbours are compared in the order of the chain; its first or its last person is wanted."""
    people = dice.sample(PEOPLE, len(_LETTERS))
    more, top, bottom = dice.pick(_RELATIONS)
    kind, wanted = dice.pick([(top, people[0]), (bottom, people[-1])])
    options = dice.shuffled(people)
    letter = _LETTERS[options.index(wanted)]
    return Problem(
        core=(kind, *people),
        fields={
            "facts": " ".join(f"{people[i]} is {more} than {people[i + 1]}." for i in range(len(people) - 1)),
            "kind": kind,
            "options": lettered(options),
        },
        expected=letter,
        answer=letter,
        steps=(f"{top} {people[0]}, {people[1]}, {bottom} {people[2]}", f"{kind}: {wanted} = {letter}"),
        context={"options": options},
    )


FAMILY = Family("rank", "First or last of three compared people", "choice", CHOICE_ASK, REPLY, TEMPLATES, draw)
