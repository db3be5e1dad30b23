"""The `choice` grader: one option's letter.

`expected` is the letter of the right option. `context` may hold `options`, the options' texts in the order shown (their
number gives the letters, and stating a text counts as its letter), or `letters`, such as "ABCDE"; without either there
are four options. The letter is found by the rules of `choices.find_choice`.
"""

from __future__ import annotations

import string

from pydantic import JsonValue

from rsibench.evaluation.graders.choices import find_choice
from rsibench.evaluation.graders.text import Output, prose
from rsibench.evaluation.graders.verdicts import bad_item, context_of, failed, is_text_list, no_answer, passed
from rsibench.spec.item import Verdict

_DEFAULT_LETTERS = "ABCD"


def grade_choice(output: Output, expected: JsonValue, context: JsonValue) -> Verdict:
    """Verdict on `output`; raises SpecError when `expected` is not an offered letter or `context` is malformed."""
    settings = context_of("choice", context, ("letters", "options"))
    options = settings.get("options", [])
    if not is_text_list(options) or len(options) > len(string.ascii_uppercase):
        raise bad_item("choice", "needs options as a list of at most 26 texts", "list the options in the order shown")
    letters = settings.get("letters") or string.ascii_uppercase[: len(options)] or _DEFAULT_LETTERS
    if not isinstance(letters, str) or not letters.isupper() or not letters.isascii() or not letters.isalpha():
        raise bad_item("choice", f"needs capital letters, not {letters!r}", "write letters such as 'ABCD'")
    if options and len(options) != len(letters):
        raise bad_item("choice", "got letters and options of different number", "give one letter an option")
    if not isinstance(expected, str) or len(expected) != 1 or expected not in letters:
        raise bad_item("choice", f"expects one of {letters}, not {expected!r}", "give the right option's letter")
    found = find_choice(prose(output), letters, options)
    if found.value is None:
        return no_answer(found.reason)
    return passed(found.shown) if found.value == expected else failed(found.shown, "another option")
