"""Whether two computations of the same record agree: everything exactly, floating point to nine digits.

Another version of a numerical library may round the last bits of an interval differently; that is not tampering.
"""

from __future__ import annotations

import math

from pydantic import JsonValue

from rsibench.spec.frozen import Frozen

_RELATIVE = 1e-9
_ABSOLUTE = 1e-12


def agree(one: Frozen, other: Frozen) -> bool:
    """Whether two records are the same up to the rounding of floats."""
    return type(one) is type(other) and not differences(one, other)


def differences(one: Frozen, other: Frozen) -> list[str]:
    """Names of the top-level fields in which two records of one class differ."""
    left, right = one.model_dump(mode="json"), other.model_dump(mode="json")
    return [name for name in left if not _same(left[name], right[name])]


def _same(one: JsonValue, other: JsonValue) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other
