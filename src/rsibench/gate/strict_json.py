"""JSON without its loopholes: no duplicate keys, no NaN, no lone surrogates, no NUL, no nesting beyond a limit.

Invariant: nesting is measured before the parser sees the text, in time linear in its length. All findings of a text are
reported at once where parsing can go on.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from rsibench.gate.codes import Code
from rsibench.gate.problems import quoted

_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|[\[\]{}]', re.DOTALL)
_LONGEST_NUMBER_CHARACTERS = 64
_PAIR_FIX = "write the whole character, or a full surrogate pair"


class Finding(NamedTuple):
    """One thing that is wrong with a JSON text; `field` is a path inside the value, where there is one."""

    code: Code
    why: str
    fix: str
    field: str | None = None


class Parsed(NamedTuple):
    """The value, meaningful only when `findings` is empty."""

    value: JsonValue
    findings: tuple[Finding, ...]


class StrictReader:
    """Parses JSON texts one after another; not for use by two threads at once."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._findings: list[Finding] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=self._constant,
            parse_float=self._float,
            parse_int=self._int,
        )

    def parse(self, text: str) -> Parsed:
        """The value of `text` with everything that is wrong with it."""
        self._findings = []
        if too_deep(text, self._max_depth):
            why = f"nested deeper than {self._max_depth} levels; it was not parsed"
            return Parsed(None, (Finding(Code.JSON_TOO_DEEP, why, "flatten the value"),))
        try:
            value: JsonValue = self._decoder.decode(text)
        except json.JSONDecodeError as error:
            why = f"not valid JSON at column {error.colno}: {error.msg}"
            return Parsed(
                None, (*self._findings, Finding(Code.JSON_INVALID, why, "write one complete JSON object a line"))
            )
        if "\\u" in text:
            self._findings.extend(_bad_characters(value, ""))
        return Parsed(value, tuple(self._findings))

    def _object(self, pairs: list[tuple[str, JsonValue]]) -> JsonValue:
        value = dict(pairs)
        if len(value) != len(pairs):
            times = Counter(key for key, _ in pairs)
            for key in sorted(key for key, count in times.items() if count > 1):
                why = f"the key {quoted(key)} is given more than once in one object"
                self._findings.append(Finding(Code.JSON_DUPLICATE_KEY, why, "keep one of them"))
        return value

    def _constant(self, name: str) -> JsonValue:
        self._findings.append(
            Finding(Code.JSON_NOT_FINITE, f"{name} is not JSON", "write a finite number or leave it out")
        )
        return None

    def _float(self, digits: str) -> JsonValue:
        number = float(digits) if len(digits) <= _LONGEST_NUMBER_CHARACTERS else math.inf
        if not math.isfinite(number):
            why = f"the number {quoted(digits)} is too large or too long"
            self._findings.append(Finding(Code.JSON_NOT_FINITE, why, "write a shorter number"))
        return number

    def _int(self, digits: str) -> JsonValue:
        if len(digits) > _LONGEST_NUMBER_CHARACTERS:
            why = f"a number of {len(digits)} digits is too large"
            self._findings.append(Finding(Code.JSON_NOT_FINITE, why, "write a smaller number, or a string"))
            return None
        return int(digits)


def too_deep(text: str, max_depth: int) -> bool:
    """True when objects and arrays nest deeper than `max_depth`; brackets inside strings do not count."""
    if text.count("{") + text.count("[") <= max_depth:
        return False
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        bracket = match.group()
        if bracket in "{[":
            depth += 1
            if depth > max_depth:
                return True
        elif bracket in "}]":
            depth -= 1
    return False


def _bad_characters(value: JsonValue, field: str) -> Iterator[Finding]:
    """Lone surrogates and NUL in any string or key; both can only have come from an escape."""
    if isinstance(value, str):
        yield from _bad_in_text(value, field)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _bad_characters(member, f"{field}[{index}]")
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _bad_in_text(key, f"{field} (a key)".strip())
            yield from _bad_characters(member, f"{field}.{_ascii(key)}".removeprefix("."))


def _bad_in_text(text: str, field: str) -> Iterator[Finding]:
    if "\x00" in text:
        yield Finding(Code.NUL, "the text holds an escaped NUL character", "remove it", field)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        why = f"character {error.start + 1} is half of a surrogate pair, which is not a character"
        yield Finding(Code.JSON_LONE_SURROGATE, why, _PAIR_FIX, field)


def _ascii(key: str) -> str:
    return key if key.isascii() and key.isidentifier() else quoted(key)
