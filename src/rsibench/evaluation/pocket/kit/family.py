"""What a family of tasks is: how to draw a problem, how to word it, and how a correct solution reads.

A problem's `core` holds all that its difficulty and answer depend on; the wording, names and order of options do not
belong to it. Two prompts with the same core are the same problem, whichever template they were written with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from .dice import Dice


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


INTEGER_ASK = "End with a line 'Answer: N', where N is a whole number."
CHOICE_ASK = "Which letter is right? End with 'Answer: A', 'Answer: B', 'Answer: C' or 'Answer: D'."
REPLY = "Answer: {answer}"
