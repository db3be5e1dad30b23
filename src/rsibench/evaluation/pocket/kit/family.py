"""What a family of tasks is: how to draw a problem, how to word it, and how a correct solution reads.

A problem's `core` holds all that its difficulty and answer depend on; the wording, names and order of options do not
belong to it. Two prompts with the same core are the same problem, whichever template they were written with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from .dice import Dice
from .words import LETTERS


class Problem(NamedTuple):
    """One problem. `fields` fill a template; `answer` is what the last line (or the whole reply) must say."""

    core: tuple[object, ...]
    fields: dict[str, str]
    expected: object
    answer: str
    steps: tuple[str, ...]
    context: object = None


class Family(NamedTuple):
    """A family. `ask` is the request for the answer's form, `reply` the final line as a format of `answer`."""

    name: str
    about: str
    grader: str
    ask: str
    reply: str
    templates: Mapping[str, str]
    draw: Callable[[Dice], Problem]

    def prompt(self, problem: Problem, template: str) -> str:
        """The problem in the wording `template`, which is a format string over `fields`."""
        return template.format(**problem.fields) + "\n" + self.ask.format(**problem.fields)

    def final(self, problem: Problem) -> str:
        """The line or block that holds the answer."""
        return self.reply.format(answer=problem.answer)


NUMBER_ASK = "Give the answer in the form 'Answer: <number>'."
CHOICE_ASK = "Give the letter of the right option as 'Answer: <letter>'."
REPLY = "Answer: {answer}"


def lettered(options: Sequence[str]) -> str:
    """Options as a prompt lists them: `first = A, second = B, ...`."""
    return ", ".join(f"{option} = {LETTERS[i]}" for i, option in enumerate(options))
