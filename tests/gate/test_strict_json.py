"""The strict reader agrees with the ordinary one on ordinary JSON and measures nesting without recursion."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsibench.gate.codes import Code
from rsibench.gate.strict_json import StrictReader, too_deep

CHARACTERS = st.characters(exclude_characters="\x00", exclude_categories=["Cs"])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(CHARACTERS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(CHARACTERS), inner, max_size=4),
    max_leaves=20,
)


def depth_of(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max((depth_of(member) for member in value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((depth_of(member) for member in value), default=0)
    return 0


@given(JSON, st.booleans())
def test_ordinary_json_is_read_as_it_is(value: object, ascii_only: bool) -> None:
    parsed = StrictReader(100).parse(json.dumps(value, ensure_ascii=ascii_only))
    assert parsed.findings == ()
    assert parsed.value == value


@given(JSON, st.integers(0, 6))
def test_depth_is_what_a_parser_would_reach(value: object, limit: int) -> None:
    assert too_deep(json.dumps(value), limit) == (depth_of(value) > limit)


@given(st.text('{}[]"\\ab,:', max_size=60))
def test_any_text_is_answered_without_an_exception(text: str) -> None:
    parsed = StrictReader(5).parse(text)
    try:
        json.loads(text)
    except ValueError:
        assert parsed.findings


@pytest.mark.parametrize("text", ['"' + '\\"' * 500_000, '"' + "a" * 1_000_000, "[" * 1_000_000, '["' * 500_000])
def test_hostile_texts_are_measured_in_linear_time(text: str) -> None:
    started = time.process_time()
    StrictReader(16).parse("[" * 17 + text)
    assert time.process_time() - started < 2.0  # a quadratic scan would take hours


def test_all_duplicates_and_constants_of_a_text_are_found_at_once() -> None:
    findings = StrictReader(8).parse('{"a": {"b": 1, "b": NaN}, "a": 2, "c": 1e999}').findings
    codes = sorted(finding.code for finding in findings)
    assert codes == [Code.JSON_DUPLICATE_KEY, Code.JSON_DUPLICATE_KEY, Code.JSON_NOT_FINITE, Code.JSON_NOT_FINITE]


def test_an_object_with_many_duplicates_is_read_in_linear_time() -> None:
    text = "{" + ",".join(f'"k{index % 20_000}": 1' for index in range(40_000)) + "}"
    started = time.process_time()
    findings = StrictReader(8).parse(text).findings
    assert len(findings) == 20_000
    assert time.process_time() - started < 2.0


def test_a_lone_surrogate_is_named_by_its_field() -> None:
    (finding,) = StrictReader(8).parse('{"messages": [{"content": "ok"}, {"content": "x\\udc00"}]}').findings
    assert (finding.code, finding.field) == (Code.JSON_LONE_SURROGATE, "messages[1].content")


def test_a_full_surrogate_pair_is_a_character() -> None:
    assert StrictReader(8).parse('"\\ud83d\\ude00"').value == "😀"
