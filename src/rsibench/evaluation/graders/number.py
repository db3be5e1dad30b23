"""The `number` grader: one decimal number, compared exactly unless the item states a tolerance.

`expected` is a number or a decimal string (`"3.50"` equals 3.5). `context` may hold `tolerance`, the largest absolute
difference that still passes. The answer is found by the rules of `numbers.find_number`; units are never converted.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from pydantic import JsonValue

from rsibench.evaluation.graders.numbers import exact_text, find_number
from rsibench.evaluation.graders.text import Output, prose
from rsibench.evaluation.graders.verdicts import bad_item, context_of, failed, no_answer, passed
from rsibench.spec.item import Verdict

_MAX_EXPONENT = 100


def grade_number(output: Output, expected: JsonValue, context: JsonValue) -> Verdict:
    """Verdict on `output`; raises SpecError when `expected` or the tolerance is not a decimal number."""
    wanted = _decimal("expected", expected)
    tolerance = _decimal("tolerance", context_of("number", context, ("tolerance",)).get("tolerance", 0))
    if tolerance < 0:
        raise bad_item("number", "got a negative tolerance", "give zero or more")
    found = find_number(prose(output))
    if found.value is None:
        return no_answer(found.reason)
    difference = abs(found.value - wanted)
    if difference <= tolerance:
        return passed(found.shown)
    return failed(found.shown, f"another number, tolerance {exact_text(tolerance)}")


def _decimal(field: str, value: JsonValue) -> Fraction:
    """An exact value from a JSON number or a decimal string. A JSON float stands for its shortest decimal form."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            exact = Decimal(str(value))
        except InvalidOperation:
            exact = Decimal("nan")
        if exact.is_finite() and abs(exact.adjusted()) <= _MAX_EXPONENT:
            return Fraction(exact)
    raise bad_item("number", f"needs a decimal number as {field}, not {value!r}", "write 3.5 or '3.50'")
