"""The `aime` grader: one integer, asked for in a TeX box.

`expected` is an integer or a string of digits (answer sheets pad to three: 025 is 25). The last complete box counts, by
the rules of `boxes.last_box`; words, styling and a modulus around a single integer are ignored, and expressions are
not evaluated (`2^{7}` is a wrong answer where 128 was asked). Without any box, a last line `Answer: ...` counts, or a
text that is an integer and nothing else.
"""

from __future__ import annotations

import re
from fractions import Fraction

from pydantic import JsonValue

from rsibench.evaluation.graders.answer_line import answer_line
from rsibench.evaluation.graders.boxes import box_reading
from rsibench.evaluation.graders.integer import expected_integer
from rsibench.evaluation.graders.numbers import single_number
from rsibench.evaluation.graders.text import Output, Reading, prose, undecorated
from rsibench.evaluation.graders.verdicts import context_of, failed, no_answer, passed
from rsibench.spec.item import Verdict

_MODULUS = re.compile(r"\\pmod\s?(?:\{[^{}]*\}|\d+)|\(?\s?(?:\\[bp]?mod|\bmod)(?![A-Za-z])\s?\{?\d+\}?\s?\)?")
_WHOLE = re.compile(r"[-+]?[\d,]{1,100}\.?")


def grade_aime(output: Output, expected: JsonValue, context: JsonValue) -> Verdict:
    """Verdict on `output`; raises SpecError when `expected` is not an integer or `context` is not empty."""
    wanted = expected_integer("aime", expected)
    context_of("aime", context, ())
    said = prose(output)
    found = box_reading(said.text, _read) or _without_box(said)
    if found.value is None:
        return failed(found.shown, found.reason) if found.shown else no_answer(found.reason)
    return passed(found.shown) if found.value == wanted else failed(found.shown, "another value")


def _read(statement: str) -> Reading[Fraction]:
    return single_number(_MODULUS.sub(" ", statement))


def _without_box(said: Output) -> Reading[Fraction]:
    stated = answer_line(said.text)
    if stated is not None:
        return _read(stated)
    if not said.cut_off and _WHOLE.fullmatch(undecorated(said.text.strip())):
        return _read(said.text)
    return Reading(None, reason="there is neither a complete box nor a last line `Answer: ...`")
