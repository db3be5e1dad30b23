"""TeX boxes: `\\boxed{...}`, `\\fbox{...}` and `\\boxed 7`. Reads the final box.

The last complete box counts. An empty box is an echo of the instruction and does not count. An unfinished box after
the last complete one means that the answer was cut off. Several different boxes in one sentence are alternatives, no
answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from rsibench.evaluation.graders.text import Reading

_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s{0,4}")
_BARE = re.compile(r"-?\d{1,100}")
_SENTENCE_BREAK = re.compile(r"[.!?]\$?(?=\s)|\n")


class _Span(NamedTuple):
    start: int
    end: int
    content: str


def box_reading[T](text: str, read: Callable[[str], Reading[T]]) -> Reading[T] | None:
    """What `read` reads in the final box of `text`, by the module's rules; None when the text holds no box."""
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
        return Reading(None, reason="the last box is not complete")
    readings = [read(content) for content in _final_contents(text, spans)]
    if len({reading.value for reading in readings}) > 1:
        return Reading(None, reason="several different boxes in the final sentence")
    return readings[0] if readings else None


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


def _final_contents(text: str, spans: list[_Span]) -> list[str]:
    """Contents of the last box and of those before it in the same sentence, without repetitions, the last one first."""
    contents: list[str] = []
    following: _Span | None = None
    for span in reversed(spans):
        if following is not None and _SENTENCE_BREAK.search(text, span.end, following.start):
            break
        if span.content not in contents:
            contents.append(span.content)
        following = span
    return contents
