"""Typed reading of GGUF metadata: a missing or mistyped key is a SpecError that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rsibench.errors import SpecError

if TYPE_CHECKING:
    from gguf import GGUFReader


def integer(reader: GGUFReader, key: str) -> int:
    """A whole number."""
    value = _contents(reader, key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _mistyped(key, "a whole number")
    return value


def number(reader: GGUFReader, key: str) -> float:
    """A 32-bit float as the shortest decimal that names it: 1e-05, not 9.999999747378752e-06."""
    value = _contents(reader, key)
    if not isinstance(value, float):
        raise _mistyped(key, "a number")
    return float(str(np.float32(value)))


def text(reader: GGUFReader, key: str) -> str:
    """A string."""
    value = _contents(reader, key)
    if not isinstance(value, str):
        raise _mistyped(key, "a text")
    return value


def words(reader: GGUFReader, key: str) -> list[str]:
    """A list of strings."""
    value = _contents(reader, key)
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise _mistyped(key, "a list of texts")
    return value


def integers(reader: GGUFReader, key: str) -> list[int]:
    """A list of whole numbers."""
    value = _contents(reader, key)
    if not isinstance(value, list) or not all(isinstance(entry, int) for entry in value):
        raise _mistyped(key, "a list of whole numbers")
    return value


def _contents(reader: GGUFReader, key: str) -> object:
    field = reader.fields.get(key)
    if field is None:
        raise SpecError(f"the GGUF has no {key!r}", fix="use a GGUF with full metadata")
    return field.contents()


def _mistyped(key: str, expected: str) -> SpecError:
    return SpecError(f"{key!r} in the GGUF is not {expected}", fix="use a GGUF with full metadata")
