"""Finding the one SQL query that an output states.

In this order: the last code fence; what follows the last line-anchored `Answer:`, `SQL:` or `Query:`; the text from the last
line that begins with SELECT or WITH. A query ends at its first semicolon outside quotes, at an empty line (outside a fence)
or with the text. Something else than SELECT or WITH, or a second statement, is no answer: it is never executed.
"""

from __future__ import annotations

import re

from rsibench.evaluation.graders.text import Reading

_FENCE = re.compile(r"^[ \t]{0,3}```[ \t]*\w{0,16}[ \t]*\n?", re.MULTILINE)
_LABEL = re.compile(
    r"^[ \t>#*_`-]{0,12}(?:(?:the|my) )?(?:(?:final|correct) )?(?:answer|sql|query|sql query)(?: is)?[ \t]?[*_`]{0,3}:[*_]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_QUERY_LINE = re.compile(r"^[ \t`*>]{0,8}(?=(?:select|with)\b)", re.IGNORECASE | re.MULTILINE)
_QUERY = re.compile(r"(?:select|with)\b", re.IGNORECASE)
_STATEMENT = re.compile(
    r"(?:select|insert|update|delete|drop|create|alter|attach|detach|pragma|replace|vacuum|begin|commit|explain|values)\b",
    re.IGNORECASE,
)
_PIECE = re.compile(r"'[^']*+'|\"[^\"]*+\"|--[^\n]*+|/\*.*?\*/|;|[^'\"\-/;]++|.", re.DOTALL)
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")


def find_query(text: str) -> Reading[str]:
    """The query without its semicolon, or why there is none."""
    fenced = _last_fence(text)
    if fenced is not None:
        return _single_query(fenced)
    labels = list(_LABEL.finditer(text))
    if labels:
        return _single_query(_paragraph(text[labels[-1].end() :]))
    lines = list(_QUERY_LINE.finditer(text))
    if not lines:
        return Reading(None, reason="there is no code fence, no line `Answer: ...` and no line that begins with SELECT")
    return _single_query(_paragraph(text[_first_of_query(text, lines) :]))


def _first_of_query(text: str, lines: list[re.Match[str]]) -> int:
    """Start of the last query: lines that begin with SELECT inside one statement (WITH, UNION) belong to it."""
    start = lines[-1].end()
    for line in reversed(lines[:-1]):
        between = text[line.end() : start]
        if ";" in between or _PARAGRAPH_END.search(between):
            break
        start = line.end()
    return start


def _last_fence(text: str) -> str | None:
    marks = list(_FENCE.finditer(text))
    if not marks:
        return None
    opening = marks[len(marks) - 2 if len(marks) % 2 == 0 else len(marks) - 1]
    closing = marks[-1].start() if len(marks) % 2 == 0 else len(text)
    return text[opening.end() : closing]


def _paragraph(text: str) -> str:
    return _PARAGRAPH_END.split(text.lstrip(), maxsplit=1)[0]


def _single_query(block: str) -> Reading[str]:
    block = block.strip().strip("`*").strip()
    query, rest = _split_statement(block)
    query = query.strip().rstrip("`").strip()
    if not _QUERY.match(query):
        return Reading(None, reason="the answer is not a query that begins with SELECT or WITH")
    if _STATEMENT.match(rest.strip()):
        return Reading(None, reason="more than one statement")
    return Reading(query, query)


def _split_statement(block: str) -> tuple[str, str]:
    """What stands before and after the first semicolon outside quotes and comments."""
    for piece in _PIECE.finditer(block):
        if piece.group() == ";":
            return block[: piece.start()], block[piece.end() :]
    return block, ""
