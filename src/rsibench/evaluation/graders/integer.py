"""The `integer` grader: one integer, compared exactly.

`expected` is an integer, or a string that is one. The answer is found by the rules of `numbers.find_number`; `42.0`
and `84/2` are the integer 42, `42.5` is a wrong answer, and a unit after the number is ignored.
"""

from __future__ import annotations

import re

from pydantic import JsonValue

from rsibench.evaluation.graders.numbers import find_number
from rsibench.evaluation.graders.text import Output, prose
from rsibench.evaluation.graders.verdicts import bad_item, context_of, failed, no_answer, passed
from rsibench.spec.item import Verdict

_INTEGER = re.compile(r"[-+]?[0-9]{1,100}")


def grade_integer(output: Output, expected: JsonValue, context: JsonValue) -> Verdict:
    """Verdict on `output`; raises SpecError when `expected` is not an integer or `context` is not empty."""
    wanted = expected_integer("integer", expected)
    context_of("integer", context, ())
    found = find_number(prose(output))
    if found.value is None:
        return no_answer(found.reason)
    if found.value == wanted:
        return passed(found.shown)
    return failed(found.shown, "another integer" if found.value.denominator == 1 else "not an integer")


def expected_integer(grader: str, expected: JsonValue) -> int:
    """The integer that an item expects; raises SpecError."""
    if isinstance(expected, int) and not isinstance(expected, bool):
        return expected
    if isinstance(expected, str) and _INTEGER.fullmatch(expected):
        return int(expected)
    raise bad_item(grader, f"expects an integer, not {expected!r}", "write 42 or '42'")
