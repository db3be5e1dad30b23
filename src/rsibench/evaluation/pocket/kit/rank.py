"""Order puzzles: three comparisons of four people, options A to D."""

from __future__ import annotations

from .dice import Dice
from .family import CHOICE_ASK, REPLY, Family, Problem
from .words import LETTERS, PEOPLE

TEMPLATES = {
    "facts": "{facts} Who is the {kind}?\n{options}",
    "four": "Four friends compare themselves. {facts}\nWhich of them is the {kind}?\n{options}",
    "ask-first": "Find the {kind} person. {facts}\n{options}",
}
_RELATIONS = (("taller", "tallest", "shortest"), ("older", "oldest", "youngest"), ("faster", "fastest", "slowest"))


def draw(dice: Dice) -> Problem:
    """Neighbours in the order are compared, in shuffled sentences; the first or the last is wanted."""
    people = dice.sample(PEOPLE, len(LETTERS))
    more, top, bottom = dice.pick(_RELATIONS)
    last = dice.pick((True, False))
    facts = dice.shuffled([f"{people[i]} is {more} than {people[i + 1]}." for i in range(len(people) - 1)])
    options = dice.shuffled(people)
    wanted = people[-1] if last else people[0]
    letter = LETTERS[options.index(wanted)]
    kind = bottom if last else top
    return Problem(
        core=(kind, *people),
        fields={
            "facts": " ".join(facts),
            "kind": kind,
            "options": "\n".join(f"{LETTERS[i]}) {name}" for i, name in enumerate(options)),
        },
        expected=letter,
        answer=letter,
        steps=(" > ".join(people), f"{kind}: {wanted}, {letter}"),
        context={"options": options},
    )


FAMILY = Family("rank", "First or last of four compared people", "choice", CHOICE_ASK, REPLY, TEMPLATES, draw)
