"""Where an output states its final answer: the last line that begins with `Answer:`, or an unambiguous ending.

The label may be `Answer:`, `Final answer:`, `The answer is:`, in any case, in bold, quoted, as a heading or a list entry.
The last such line counts, and when nothing follows the label, the next line that is not empty does. A label in the middle
of a line is not a final answer line; it only counts as an ending, when the text ends with it.
"""

from __future__ import annotations

import re

_LABEL = re.compile(
    r"^[ \t>#*_`~•-]{0,12}(?:\d{1,2}[.)] ?)?(?:(?:so|thus|hence|therefore),? )?(?:(?:the|my) )?(?:(?:final|correct) ){0,2}"
    r"answer(?: is)?[ \t]?[*_`]{0,3}[ \t]?[:=][*_`]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_CONNECTIVE = re.compile(r"=|\b(?:is|are|equals|answer)\b:?", re.IGNORECASE)
_ALTERNATIVES = re.compile(r"\b(?:or|either|maybe|perhaps)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s)")
_BLANK = re.compile(r"[\s*_`]*")


def answer_line(text: str) -> str | None:
    """What the last line-anchored `Answer:` states ("" when nothing follows it), or None without such a line."""
    last = None
    for last in _LABEL.finditer(text):
        pass
    if last is None:
        return None
    for line in text[last.end() :].split("\n"):
        if not _BLANK.fullmatch(line):
            return line.strip()
    return ""


def last_line(text: str) -> str:
    """The last line that is not empty; "" for an empty text."""
    return text.rstrip().rpartition("\n")[2].strip()


def ending_after_connective(text: str) -> str | None:
    """What follows the last `is`, `are`, `equals`, `=` or `answer:` of the text's last sentence; None when it hedges.

    Callers must check that this is an answer and nothing else.
    """
    line = last_line(text)
    sentence = line[_last_sentence_start(line) :]
    if _ALTERNATIVES.search(sentence):
        return None
    last = None
    for last in _CONNECTIVE.finditer(sentence):
        pass
    return sentence[last.end() :].strip(" \t:") if last is not None else None


def _last_sentence_start(line: str) -> int:
    start = 0
    for end in _SENTENCE_END.finditer(line):
        if line[end.end() :].strip(" \t*_`$\"')"):
            start = end.end()
    return start
