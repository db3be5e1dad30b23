"""Whether stored bytes are RFC 8785 canonical JSON, decided fast for nearly all events and exactly for the rest.

Invariant: True only for bytes that the canonical writer itself would produce. Reading a value and writing it unsorted
gives the same bytes only if there is no spare white space, no doubled key and no other spelling of a string; sorted
keys are then checked on the value. Whatever the fast writer and RFC 8785 may write differently (non-ASCII text,
integers beyond 15 digits, floats that are whole or that either would give an exponent) goes the slow and exact way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pydantic import TypeAdapter

from rsibench.spec.frozen import canonical_json

_ANY: TypeAdapter[Any] = TypeAdapter(Any)
_read = _ANY.validator.validate_json
_write = _ANY.serializer.to_json
_LEAST_PLAIN = 1e-4
_MOST_PLAIN = 10**15
_EXACT = 2**53


def is_canonical(body: bytes) -> bool:
    """Whether `body` is one JSON value in canonical form; anything unreadable is not."""
    if body.isascii():
        try:
            value = _read(body)
        except ValueError:
            return False
        if _is_plain(value) and _write(value) == body:
            return True
    return _is_canonical_exactly(body)


def _is_plain(value: object) -> bool:
    """Whether all keys are sorted and all numbers are such that every writer writes them alike."""
    items: Iterable[object] = (value,)
    if isinstance(value, dict):
        keys = list(value)
        if keys != sorted(keys):
            return False
        items = value.values()
    elif isinstance(value, list):
        items = value
    for item in items:  # leaves are looked at here and not by a call each: they are most of what verifying costs
        if isinstance(item, str) or item is None:
            continue
        if isinstance(item, int):
            plain = -_MOST_PLAIN < item < _MOST_PLAIN
        elif isinstance(item, float):
            plain = _LEAST_PLAIN <= abs(item) < _MOST_PLAIN and not item.is_integer()
        else:
            plain = _is_plain(item)
        if not plain:
            return False
    return True


def _is_canonical_exactly(body: bytes) -> bool:
    try:
        return canonical_json(json.loads(body, parse_int=_number)) == body
    except (ValueError, OverflowError, RecursionError):
        return False


def _number(text: str) -> int | float:
    """An integer; beyond 2**53 a double, because that is what was written: large floats are written without a point."""
    value = int(text)
    return value if abs(value) < _EXACT else float(value)
