"""Where an output states its final answer: the last line that begins with `Answer:`, or an unambiguous statement.

The label may be `Answer:`, `Final answer:`, `The answer is:`, in any case, in bold, quoted, as a heading or a list
entry. The last such line counts, and when nothing follows the label, the next line that is not empty does. A label in
the middle of a line is not a final answer line. Without any such line, only unambiguous statements count, see
`loose_reading`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rsibench.evaluation.graders.text import Reading, last_match

_LABEL = re.compile(
    r"^[ \t>#*_`~•-]{0,12}(?:\d{1,2}[.)] ?)?(?:(?:so|thus|hence|therefore),? )?(?:(?:the|my) )?"
    r"(?:(?:final|correct) ){0,2}answer(?: is)?[ \t]?[*_`]{0,3}[ \t]?[:=][*_`]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_CONNECTIVE = re.compile(r"=|\b(?:is|are|equals|answer)\b:?", re.IGNORECASE)
_HEDGE = re.compile(r"\b(?:or|either|maybe|perhaps)\b", re.IGNORECASE)
_PHRASE = re.compile(r"\banswer(?: is| =)[ :]{0,4}((?:[^.;,\n]|[.,](?=\d))*+)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s)")
_BLANK = re.compile(r"[\s*_`]*")


def answer_line(text: str) -> str | None:
    """What the last line-anchored `Answer:` states ("" when nothing follows it), or None without such a line."""
    last = last_match(_LABEL, text)
    if last is None:
        return None
    for line in text[last.end() :].split("\n"):
        if not _BLANK.fullmatch(line):
            return line.strip()
    return ""


def loose_reading[T](text: str, read: Callable[[str], Reading[T] | None]) -> Reading[T]:
    """An answer without an answer line. `read` takes a statement and returns None when it is not an answer and no more.

    In this order: the whole text, when it is one line; what follows the last `is`, `are`, `equals`, `=` or `answer:` of
    the last sentence; what follows the last `answer is`. Statements `answer is ...` that do not agree with it, or with
    one another, make it no answer.
    """
    whole = text.strip()
    phrases = [match.group(1).strip() for match in _PHRASE.finditer(whole)]
    statements = ([whole] if "\n" not in whole else []) + _ending(whole) + phrases[-1:]
    found = next((reading for reading in map(read, statements) if reading is not None), None)
    if found is None or found.value is None:
        return found or Reading(None, reason="there is no line `Answer: ...` and no other unambiguous answer")
    others = [read(phrase) for phrase in phrases]
    if all(other is not None and other.value == found.value for other in others):
        return found
    return Reading(None, reason="different statements of the answer")


def _ending(text: str) -> list[str]:
    """What follows the last connective of the text's last sentence; nothing without one or when the sentence hedges."""
    line = text.rpartition("\n")[2]
    sentence = line[_last_sentence_start(line) :]
    last = last_match(_CONNECTIVE, sentence)
    return [] if last is None or _HEDGE.search(sentence) else [sentence[last.end() :].strip(" \t:")]


def _last_sentence_start(line: str) -> int:
    content_chars = len(line.rstrip(" \t*_`$\"')"))
    start = 0
    for end in _SENTENCE_END.finditer(line):
        if end.end() < content_chars:
            start = end.end()
    return start
