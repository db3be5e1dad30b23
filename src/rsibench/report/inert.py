"""Untrusted text made harmless to show: nothing in it is invisible, reorders its neighbours or drives a terminal.

Invariant: what comes out holds no control, format or surrogate character except newline and tab, and always encodes as
UTF-8. It is not HTML escaping; the template engine does that. It is for display only: records keep the original bytes.
"""

from __future__ import annotations

import re
import unicodedata

HARD_LIMIT_CHARACTERS = 20_000
"""No single piece of text on a page is longer than this, whatever it is."""

_KEPT = frozenset("\n\t")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_HIDDEN_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")
_MAYBE_HIDDEN = re.compile(r"[^\n\t\x20-\x7e]")


def inert(text: str) -> str:
    """`text` with every invisible or controlling character written out, as in ⟨U+202E⟩."""
    return _MAYBE_HIDDEN.sub(_written_out, text)


def cut(text: str, most: int) -> str:
    """At most `most` characters of `text`; a marker says how long it was when something is missing."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… [cut here; {len(text):,} characters in all]"


def one_line(text: str, most: int) -> str:
    """`text` for a table cell: white space collapsed, cut to `most` characters with an ellipsis, inert."""
    head = text[: 8 * most]
    line = " ".join(head.split())
    return inert(line if len(line) <= most and len(head) == len(text) else f"{line[:most]}…")


def _written_out(match: re.Match[str]) -> str:
    character = match.group()
    return f"⟨U+{ord(character):04X}⟩" if _hidden(character) else character


def _hidden(character: str) -> bool:
    if character in _KEPT:
        return False
    if unicodedata.category(character) in _HIDDEN_CATEGORIES or character in _HIDDEN_LETTERS:
        return True
    code = ord(character)
    tag_or_selector = 0xE0000 <= code <= 0xE0FFF or 0xFE00 <= code <= 0xFE0D
    noncharacter = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return tag_or_selector or noncharacter
