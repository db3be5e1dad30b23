"""What untrusted text becomes before it is shown."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsibench.report.inert import cut, inert, one_line

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_nothing_shown_is_a_control_format_or_surrogate_character(text: str) -> None:
    shown = inert(text)
    shown.encode("utf-8")
    hidden = {character for character in shown if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert hidden <= {"\n", "\t"}


@given(ANY_TEXT)
def test_making_inert_twice_changes_nothing_more(text: str) -> None:
    assert inert(inert(text)) == inert(text)


@given(st.text(alphabet=st.characters(categories=("L", "N"), max_codepoint=0x24F)))
def test_letters_and_digits_stay(text: str) -> None:
    assert inert(text) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "\x00",
        "\x1b",
        "\r",
        "\u202e",
        "\u2066",
        "\u200b",
        "\u2028",
        "\ud800",
        "\ufeff",
        "\U000e0041",
        "\ufffe",
        "\u3164",
    ],
)
def test_each_hidden_character_is_named_by_its_code_point(hidden: str) -> None:
    assert inert(f"a{hidden}b") == f"a⟨U+{ord(hidden):04X}⟩b"


@given(ANY_TEXT, st.integers(1, 50))
def test_cut_keeps_the_beginning_and_says_how_long_it_was(text: str, most: int) -> None:
    shown = cut(text, most)
    assert shown.startswith(text[:most])
    assert (shown == text) if len(text) <= most else (f"{len(text):,} characters" in shown)


@given(ANY_TEXT, st.integers(1, 50))
def test_one_line_is_one_line_and_says_when_something_is_missing(text: str, most: int) -> None:
    line = one_line(text, most)
    assert "\n" not in line
    words = " ".join(text.split())
    assert line == inert(words) if len(text) <= most else line.endswith("…") or len(words) <= most
