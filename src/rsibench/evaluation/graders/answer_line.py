"""Where an output states its final answer: the last line that begins with `Answer:`, or an unambiguous statement.

The label may be `Answer:`, `Final answer:`, `The answer is:`, in any case, in bold, quoted, as a heading or a list
entry. The last such line counts, and when nothing follows the label, the next line that is not empty does. A label in
the middle of a line is not a final answer line. Without any such line, only unambiguous statements count, see
`loose_reading`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rsibench.evaluation.graders.text import Output, Reading, last_match

_LABEL = re.compile(
    r"^[ \t>#*_`~•-]{0,12}(?:\d{1,2}[.)] ?)?(?:(?:so|thus|hence|therefore),? )?(?:(?:the|my) )?"
    r"(?:(?:final|correct) ){0,2}answer(?: is)?[ \t]?[*_`]{0,3}[ \t]?[:=][*_`]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
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


def loose_reading[T](
    said: Output,
    connective: re.Pattern[str],
    read: Callable[[str], Reading[T] | None],
    read_phrase: Callable[[str], Reading[T] | None],
) -> Reading[T]:
    """An answer without an answer line. `read` returns None for a statement that is not an answer and no more.

    In this order: the whole text, when it is one line; what follows the last `connective` of the last sentence; what
    follows the last `answer is`, by `read_phrase`. The first two need an output that ended by itself. Statements
    `answer is ...` on the same line that do not agree make it no answer.
    """
    whole = said.text.strip()
    last_line = whole.rfind("\n") + 1
    statements = [] if said.cut_off else ([] if last_line else [whole]) + _ending(whole[last_line:], connective)
    found = next((reading for reading in map(read, statements) if reading is not None), None)
    line = last_line
    if found is None and (phrase := last_match(_PHRASE, whole)) is not None:
        found = read_phrase(phrase.group(1).strip())
        line = whole.rfind("\n", 0, phrase.start()) + 1
    if found is None or found.value is None:
        return found or Reading(None, reason="there is no line `Answer: ...` and no other unambiguous answer")
    others = [read_phrase(phrase.group(1).strip()) for phrase in _PHRASE.finditer(whole, line)]
    if any(other is not None and other.value not in (None, found.value) for other in others):
        return Reading(None, reason="different statements of the answer on one line")
    return found


def _ending(line: str, connective: re.Pattern[str]) -> list[str]:
    """What follows the last connective of the line's last sentence; nothing without one or when the sentence hedges."""
    sentence = line[_last_sentence_start(line) :]
    last = last_match(connective, sentence)
    return [] if last is None or _HEDGE.search(sentence) else [sentence[last.end() :].strip(" \t:")]


def _last_sentence_start(line: str) -> int:
    content_chars = len(line.rstrip(" \t*_`$\"')"))
    start = 0
    for end in _SENTENCE_END.finditer(line):
        if end.end() < content_chars:
            start = end.end()
    return start
