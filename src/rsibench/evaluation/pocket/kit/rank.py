"""Order puzzles: two comparisons of three people, options A to C."""

from __future__ import annotations

from .dice import Dice
from .family import CHOICE_ASK, REPLY, Family, Problem, lettered
from .words import LETTERS, PEOPLE

TEMPLATES = {
    "options-first": "Options: {options}. {facts} Who is the {kind}?",
    "facts": "{options}. {facts} Which letter is the {kind} person?",
    "find": "Three people: {options}. {facts} Find the {kind} one.",
}
_RELATIONS = (("taller", "tallest", "shortest"), ("older", "oldest", "youngest"), ("faster", "fastest", "slowest"))
_PEOPLE = 3


def draw(dice: Dice) -> Problem:
    """Neighbours in the order are compared, in shuffled sentences; the first or the last is wanted."""
    people = dice.sample(PEOPLE, _PEOPLE)
    more, top, bottom = dice.pick(_RELATIONS)
    last = dice.pick((True, False))
    facts = dice.shuffled([f"{people[i]} is {more} than {people[i + 1]}." for i in range(len(people) - 1)])
    options = dice.shuffled(people)
    wanted = people[-1] if last else people[0]
    letter = LETTERS[options.index(wanted)]
    kind = bottom if last else top
    return Problem(
        core=(kind, *people),
        fields={"facts": " ".join(facts), "kind": kind, "options": lettered(options)},
        expected=letter,
        answer=letter,
        steps=(" > ".join(people), f"{kind}: {wanted} = {letter}"),
        context={"options": options},
    )


FAMILY = Family("rank", "First or last of three compared people", "choice", CHOICE_ASK, REPLY, TEMPLATES, draw)
