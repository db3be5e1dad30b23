"""Reading one number from a short text, exactly: as a fraction of integers, never as a float.

Read: signs, thousands commas (`1,024`), decimals, simple fractions (`7/3`), currency and TeX dressing, a unit after the
number, an explanation in parentheses or after `because`, the right-hand side of an equation. Not read: expressions
(`2^7`), decimal commas, numbers in words. Two different numbers are no answer, and there is no search for the last one.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from rsibench.evaluation.graders.answer_line import answer_line, loose_reading
from rsibench.evaluation.graders.boxes import box_reading
from rsibench.evaluation.graders.text import Output, Reading, undecorated

MAX_NUMBER_CHARS = 100
"""A longer number is not an answer."""

_LITERAL = (
    r"(?:[-+]?(?:\d{1,3}(?:,\d{3})++(?!\d)|\d++)(?:\.\d++)?(?:/\d++(?![./]))?|[-+]?\.\d++)"
    r"(?!\.?\d|[eE][-+]?\d)"
)
_NUMBER = re.compile(rf"(?<![\w.^/]){_LITERAL}")
_ALONE = re.compile(rf"{_LITERAL}(?: ?[A-Za-z%/][\w%/^-]{{0,20}}){{0,3}}[ \t]?[.!]?")
_CONNECTIVE = re.compile(r"=|\b(?:is|are|equals)\b|\banswer:", re.IGNORECASE)
_PARENTHESES = re.compile(r"\([^()]*\)")
_EXPLANATION = re.compile(r"\b(?:because|since)\b", re.IGNORECASE)
_EQUALS = re.compile(r"=|\\equiv(?![A-Za-z])|≡")
_OPERATOR_AFTER = re.compile(r"\s*(?:[+*^×÷·]\s*[\w(]|/\s*[\d(])")
_OPERATOR_BEFORE = re.compile(r"[\w)]\s*[-+*/^×÷·]\s*$")
_SPACED_SIGN = re.compile(r"^([-+])\s+(?=[\d.])")
_STATEMENT_END = re.compile(r"\s*(?:[,;:.](?:\s|$)|$)")


def find_number(said: Output) -> Reading[Fraction]:
    """The number that an output, as `text.prose` gives it, states as its answer.

    In this order, the first that is there: the last line-anchored `Answer:`; the last TeX box; the whole text, when
    it is a number (and its unit) alone; an ending such as `... is 42.` or `... = 42`; phrases `the answer is 42` that
    all agree.
    """
    stated = answer_line(said.text)
    if stated is not None:
        return single_number(stated)
    return box_reading(said.text, single_number) or loose_reading(said, _CONNECTIVE, _alone, _alone)


def _alone(statement: str) -> Reading[Fraction] | None:
    """A reading when the statement is a number and its unit, and nothing else."""
    plain = _SPACED_SIGN.sub(r"\1", undecorated(statement))
    return single_number(plain) if _ALONE.fullmatch(plain) else None


def single_number(statement: str) -> Reading[Fraction]:
    """The one number that a statement gives; several different numbers, or an expression, are no answer."""
    plain = undecorated(statement)
    if plain.startswith("(") and plain.rstrip(".").endswith(")"):
        plain = plain.rstrip(".")[1:-1]
    plain = _EXPLANATION.split(_PARENTHESES.sub(" ", plain), maxsplit=1)[0]
    *left_sides, right_side = _EQUALS.split(plain)
    right_side = _SPACED_SIGN.sub(r"\1", right_side.strip())
    values = {value for value in map(_claimed, left_sides) if value is not None}
    shown = right_side[:MAX_NUMBER_CHARS]
    for match in _NUMBER.finditer(right_side):
        if len(match.group()) > MAX_NUMBER_CHARS:
            return Reading(None, reason=f"a number of more than {MAX_NUMBER_CHARS} characters")
        before = right_side[max(0, match.start() - 20) : match.start()]
        if _OPERATOR_AFTER.match(right_side, match.end()) or _OPERATOR_BEFORE.search(before):
            return Reading(None, shown, f"an expression, not a number: {shown}")
        value = _value(match.group())
        if value is None:
            return Reading(None, reason="a fraction with denominator 0")
        values.add(value)
        if len(values) > 1:
            break
    if len(values) != 1:
        return Reading(
            None, reason="no number in the answer" if not values else f"several numbers in the answer: {shown}"
        )
    value = values.pop()
    return Reading(value, exact_text(value))


def exact_text(value: Fraction) -> str:
    """`42`, `-3.25` or `7/3`: the shortest exact form."""
    denominator, twos, fives = value.denominator, 0, 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    places = max(twos, fives)
    if denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    if places == 0:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _claimed(left_side: str) -> Fraction | None:
    """A number that the left side of an equation already states as an answer, as in `43, because 6 * 7 = 42`."""
    text = left_side.strip()
    match = _NUMBER.match(text)
    if match is None or len(match.group()) > MAX_NUMBER_CHARS or not _STATEMENT_END.match(text, match.end()):
        return None
    return _value(match.group())


def _value(literal: str) -> Fraction | None:
    numerator, _, denominator = literal.replace(",", "").partition("/")
    bottom = Fraction(Decimal(denominator)) if denominator else Fraction(1)
    return Fraction(Decimal(numerator)) / bottom if bottom else None
