"""Whether stored bytes are RFC 8785 canonical JSON, decided fast for nearly all events and exactly for the rest.

Invariant: True only for bytes that the canonical writer itself would produce. Reading and writing a value unsorted gives
the same bytes only if there is no spare white space, no doubled key and no other spelling of a string; sorted keys are
then checked on the value. Whatever the fast writer and RFC 8785 may write differently (non-ASCII text, integers beyond
15 digits, floats that are whole or that either would give an exponent) goes the slow and exact way.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from rsibench.spec.frozen import canonical_json

_ANY: TypeAdapter[Any] = TypeAdapter(Any)
_read = _ANY.validator.validate_json
_write = _ANY.serializer.to_json
_LEAST_PLAIN = 1e-4
_MOST_PLAIN = 10**15


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
    if value is None or isinstance(value, str):
        return True
    if isinstance(value, dict):
        keys = list(value)
        return keys == sorted(keys) and all(map(_is_plain, value.values()))
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, float):
        return _LEAST_PLAIN <= abs(value) < _MOST_PLAIN and not value.is_integer()
    return isinstance(value, int) and -_MOST_PLAIN < value < _MOST_PLAIN


def _is_canonical_exactly(body: bytes) -> bool:
    try:
        return canonical_json(json.loads(body)) == body
    except (ValueError, RecursionError):
        return False
