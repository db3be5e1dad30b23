"""The `json` grader: one JSON object, compared with the expected one as JSON values.

The order of keys is free and 1 equals 1.0, but true is not 1 and strings are compared character by character. The last
complete top-level object of the output counts, in a code fence or in text. No answer: an object that is cut off at the
end, a duplicate key, NaN or infinity, or several different objects side by side (with nothing but commas, `or` or `and`
between them).
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import NamedTuple

from pydantic import JsonValue

from rsibench.evaluation.graders.text import Output, visible_text
from rsibench.evaluation.graders.verdicts import bad_item, context_of, failed, no_answer, passed
from rsibench.spec.item import Verdict

MAX_DEPTH = 64
"""Deeper nesting is not an answer."""
MAX_NUMBER_CHARS = 100
"""A longer number is not an answer."""

type Value = bool | int | Decimal | str | list[Value] | dict[str, Value] | None

_SIDE_BY_SIDE = re.compile(r"[\s,;`]*(?:or|and)?[\s,;`]*", re.IGNORECASE)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*+"')


class _Object(NamedTuple):
    """A top-level object in a text: its place, its value, and why it cannot be an answer."""

    start: int
    end: int
    value: Value
    problem: str


class _Scan(NamedTuple):
    objects: list[_Object]
    cut_off: bool


def grade_json(output: Output, expected: JsonValue, context: JsonValue) -> Verdict:
    """Verdict on `output`; raises SpecError when `expected` is not an object or `context` is not empty."""
    if not isinstance(expected, dict):
        raise bad_item("json", f"expects an object, not {type(expected).__name__}", "give a JSON object")
    context_of("json", context, ())
    wanted, problem = _parse(json.dumps(expected))
    if problem:
        raise bad_item("json", f"expects {problem}", "give an object that a student can write")
    text = visible_text(output)
    found = _scan(text)
    if found.cut_off:
        return no_answer("the last JSON object is cut off")
    if not found.objects:
        return no_answer("there is no complete JSON object")
    last = found.objects[-1]
    if last.problem:
        return no_answer(last.problem)
    if _alternatives(text, found.objects):
        return no_answer("several different JSON objects side by side")
    shown = text[last.start : last.end]
    return passed(shown) if same_value(last.value, wanted) else failed(shown, "another JSON value")


def same_value(left: Value, right: Value) -> bool:
    """Equality of JSON values: numbers by value, booleans only with booleans, objects without order."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_value(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_value, left, right))
    return left == right


def _scan(text: str) -> _Scan:
    """Every top-level object, in order. A braced group that is not JSON is skipped whole, its inside included."""
    closing = _closing_braces(text)
    objects: list[_Object] = []
    position = text.find("{")
    while position >= 0:
        end = closing.get(position)
        if end is None:
            if _begins_object(text, position):
                return _Scan(objects, True)
            position = text.find("{", position + 1)
            continue
        value, problem = _parse(text[position : end + 1])
        if value is not None or problem:
            objects.append(_Object(position, end + 1, value, problem))
        position = text.find("{", end + 1)
    return _Scan(objects, False)


def _begins_object(text: str, position: int) -> bool:
    """True when an unclosed brace looks like an object that was cut off, rather than like a stray brace in prose."""
    return text[position + 1 : position + 64].lstrip()[:1] in ("", '"')


def _closing_braces(text: str) -> dict[int, int]:
    """The closing brace of each opening one; braces inside a JSON string that starts and ends on one line are text."""
    pairs: dict[int, int] = {}
    open_at: list[int] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == '"' and open_at:
            string = _STRING.match(text, position)
            position = string.end() if string is not None else position + 1
            continue
        if character == "{":
            open_at.append(position)
        elif character == "}" and open_at:
            pairs[open_at.pop()] = position
        position += 1
    return pairs


def _parse(text: str) -> tuple[Value, str]:
    """(value, problem) of one braced group; (None, "") when it is not JSON at all."""
    if _depth(text) > MAX_DEPTH:
        return None, f"a JSON object nested deeper than {MAX_DEPTH}"
    problems: list[str] = []

    def pairs(entries: list[tuple[str, Value]]) -> dict[str, Value]:
        merged = dict(entries)
        if len(merged) != len(entries):
            problems.append("a JSON object with a duplicate key")
        return merged

    def number(literal: str) -> Value:
        if len(literal) > MAX_NUMBER_CHARS:
            problems.append(f"a number of more than {MAX_NUMBER_CHARS} characters")
            return None
        return Decimal(literal)

    def constant(name: str) -> Value:
        problems.append(f"a JSON object with {name}")
        return None

    try:
        value: Value = json.loads(
            text, object_pairs_hook=pairs, parse_int=number, parse_float=number, parse_constant=constant
        )
    except ValueError:
        return None, ""
    return value, problems[0] if problems else ""


def _depth(text: str) -> int:
    """Deepest nesting of brackets, those inside strings included: an upper bound that needs no parser."""
    depth = deepest = 0
    for character in text:
        if character in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "}]":
            depth -= 1
    return deepest


def _alternatives(text: str, objects: list[_Object]) -> bool:
    for earlier, later in zip(reversed(objects[:-1]), reversed(objects[1:]), strict=True):
        if not _SIDE_BY_SIDE.fullmatch(text, earlier.end, later.start):
            return False
        if not same_value(earlier.value, objects[-1].value):
            return True
    return False
