"""The fast test for canonical JSON says exactly what the canonical writer says."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rsibench.journal.canonical import is_canonical
from rsibench.spec.frozen import canonical_json

_NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_LEAVES = st.none() | st.booleans() | _NUMBERS | _TEXTS
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4), max_leaves=12
)


@settings(deadline=None)
@given(value=_VALUES)
def test_what_the_canonical_writer_writes_is_canonical(value: object) -> None:
    assert is_canonical(canonical_json(value))


@settings(deadline=None)
@given(value=_VALUES, spaced=st.booleans(), escaped=st.booleans())
def test_any_other_spelling_of_the_same_value_is_not(value: object, spaced: bool, escaped: bool) -> None:
    separators = (", ", ": ") if spaced else (",", ":")
    body = json.dumps(value, ensure_ascii=escaped, separators=separators).encode()
    assert is_canonical(body) is (body == canonical_json(value))


@settings(deadline=None)
@given(body=st.binary(max_size=24) | st.text('{}[]",:0123456789.eE-+ \\untrfalsb', max_size=24).map(str.encode))
@example(b"1.0")
@example(b"1e5")
@example(b"-0")
@example(b"0.00001")
@example(b"1e-7")
@example(b"9007199254740992")
@example(b"9007199254740993")
@example(b"NaN")
@example(b"Infinity")
@example(b'"\\ud800"')
@example(b'"\\u007f"')
@example(b'{"a":1,"a":1}')
@example(b'{"b":1,"a":1}')
@example(b"[1] ")
@example(b"\xef\xbb\xbf1")
def test_any_bytes_are_canonical_only_if_the_writer_would_write_them(body: bytes) -> None:
    try:
        expected = canonical_json(json.loads(body, parse_int=float)) == body  # JSON numbers are doubles
    except ValueError:
        expected = False
    assert is_canonical(body) is expected


@pytest.mark.parametrize("depth", [500, 100_000])
def test_deep_nesting_is_an_answer_and_no_crash(depth: int) -> None:
    assert is_canonical(b"[" * depth + b"]" * depth) in (True, False)
