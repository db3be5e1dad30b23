"""TeX boxes: `\\boxed{...}`, `\\fbox{...}` and `\\boxed 7`. Says what the final box holds, or why there is none.

The last complete box counts. An empty box is an echo of the instruction and does not count. An unfinished box after
the last complete one means that the answer was cut off. Several different boxes in one sentence are alternatives, no
answer.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s{0,4}")
_BARE = re.compile(r"-?\d{1,100}")
_SENTENCE_BREAK = re.compile(r"[.!?]\$?(?=\s)|\n")
_SPACE = re.compile(r"\s+")


class Box(NamedTuple):
    """The final box. `found` is False when the text holds no box at all; `content` None with `found` is no answer."""

    found: bool
    content: str | None = None
    reason: str = ""


class _Span(NamedTuple):
    start: int
    end: int
    content: str


def last_box(text: str) -> Box:
    """The content of the final box of `text`, see the module's rules."""
    closing = _closing_braces(text)
    spans: list[_Span] = []
    cut_off = False
    for match in _BOX.finditer(text):
        if spans and match.start() < spans[-1].end:
            continue
        span = _span(text, match, closing)
        cut_off = span is None
        if span is not None and span.content:
            spans.append(span)
    if cut_off:
        return Box(True, None, "the last box is not complete")
    if not spans:
        return Box(False)
    if _alternatives(text, spans):
        return Box(True, None, "several different boxes in the final sentence")
    return Box(True, spans[-1].content)


def _span(text: str, match: re.Match[str], closing: dict[int, int]) -> _Span | None:
    start = match.end()
    if text[start : start + 1] == "{":
        end = closing.get(start)
        return None if end is None else _Span(match.start(), end + 1, text[start + 1 : end].strip())
    bare = _BARE.match(text, start)
    if bare is not None:
        return _Span(match.start(), bare.end(), bare.group())
    return None if start >= len(text) else _Span(match.start(), start, "")


def _closing_braces(text: str) -> dict[int, int]:
    """Position of the closing brace for each opening one; an escaped brace is text."""
    pairs: dict[int, int] = {}
    open_at: list[int] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 2
            continue
        if character == "{":
            open_at.append(position)
        elif character == "}" and open_at:
            pairs[open_at.pop()] = position
        position += 1
    return pairs


def _alternatives(text: str, spans: list[_Span]) -> bool:
    final = _SPACE.sub("", spans[-1].content)
    for earlier, later in zip(reversed(spans[:-1]), reversed(spans[1:]), strict=True):
        if _SENTENCE_BREAK.search(text, earlier.end, later.start):
            return False
        if _SPACE.sub("", earlier.content) != final:
            return True
    return False
