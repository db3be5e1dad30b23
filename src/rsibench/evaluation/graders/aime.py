"""The `aime` grader: one integer, asked for in a TeX box.

`expected` is an integer or a string of digits (answer sheets pad to three: 025 is 25). The last complete box counts, by
the rules of `boxes.last_box`; words, styling and a modulus around a single integer are ignored, and expressions are
not evaluated (`2^{7}` is a wrong answer where 128 was asked). Without any box, a last line `Answer: ...` counts, or a
text that is an integer and nothing else.
"""

from __future__ import annotations

import re

from pydantic import JsonValue

from rsibench.evaluation.graders.answer_line import answer_line
from rsibench.evaluation.graders.boxes import last_box
from rsibench.evaluation.graders.integer import expected_integer
from rsibench.evaluation.graders.numbers import single_number
from rsibench.evaluation.graders.text import folded, undecorated, visible_text
from rsibench.evaluation.graders.verdicts import context_of, failed, no_answer, passed
from rsibench.spec.item import Verdict

_MODULUS = re.compile(r"\\pmod\s?(?:\{[^{}]*\}|\d+)|\(?\s?(?:\\[bp]?mod|\bmod)(?![A-Za-z])\s?\{?\d+\}?\s?\)?")
_WHOLE = re.compile(r"[-+]?[\d,]{1,100}\.?")


def grade_aime(output: str, expected: JsonValue, context: JsonValue) -> Verdict:
    """Verdict on `output`; raises SpecError when `expected` is not an integer or `context` is not empty."""
    wanted = expected_integer("aime", expected)
    context_of("aime", context, ())
    text = folded(visible_text(output))
    box = last_box(text)
    if box.found and box.content is None:
        return no_answer(box.reason)
    statement = box.content if box.content is not None else _without_box(text)
    if statement is None:
        return no_answer("there is neither a complete box nor a last line `Answer: ...`")
    found = single_number(_MODULUS.sub(" ", statement))
    if found.value is None:
        return failed(found.shown, found.reason) if found.shown else no_answer(found.reason)
    return passed(found.shown) if found.value == wanted else failed(found.shown, "another value")


def _without_box(text: str) -> str | None:
    stated = answer_line(text)
    if stated is not None:
        return stated
    plain = undecorated(text.strip())
    return plain if _WHOLE.fullmatch(plain) else None
