"""Finding the one SQL query that an output states.

In this order: the last code fence that begins with a query; what follows the last line-anchored `Answer:`, `SQL:` or
`Query:`; the text from the last line that begins with SELECT or WITH. A query ends at its first semicolon outside
quotes, at an empty line or fence mark, or with the text. Something else than SELECT or WITH, or a second statement, is
no answer: it is never executed.
"""

from __future__ import annotations

import re

from rsibench.evaluation.graders.text import Reading

_FENCE = re.compile(r"^[ \t]{0,3}```(?:[ \t]*\w{0,16}[ \t]*\n|[ \t]*sql(?:ite)?\b)?", re.IGNORECASE | re.MULTILINE)
_FENCE_END = "```"
_LABEL = re.compile(
    r"^[ \t>#*_`-]{0,12}(?:(?:the|my) )?(?:(?:final|correct) )?"
    r"(?:answer|sql query|sql|query)(?: is)?[ \t]?[*_`]{0,3}:[*_]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_BEGIN = r"(?:select\b|with\s+(?:recursive\s+)?[\w\"`\[\]]{1,64}\s*(?:\([^()]{0,200}\)\s*)?as\b)"
_QUERY_LINE = re.compile(rf"^[ \t`*>]{{0,8}}(?={_BEGIN})", re.IGNORECASE | re.MULTILINE)
_QUERY = re.compile(_BEGIN, re.IGNORECASE)
_STATEMENT = re.compile(
    r"(?:select|insert|update|delete|drop|create|alter|attach|detach|pragma|replace|vacuum|begin|commit|explain|values)\b",
    re.IGNORECASE,
)
_COMMENT = r"--[^\n]*+|/\*.*?(?:\*/|\Z)"
_PIECE = re.compile(rf"'[^']*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|{_COMMENT}|;|[^'\"\-/;]++|.", re.DOTALL)
_LEADING_COMMENTS = re.compile(rf"(?:\s++|{_COMMENT})*+", re.DOTALL)
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n|```")


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
    """Inside of the last fence that begins with a query; the end of the text closes a fence."""
    inside: list[str] = []
    opening = _FENCE.search(text)
    while opening is not None:
        end = text.find(_FENCE_END, opening.end())
        inside.append(text[opening.end() : end if end >= 0 else len(text)])
        opening = _FENCE.search(text, end + len(_FENCE_END)) if end >= 0 else None
    queries = [block for block in inside if _QUERY.match(_without_comments(block))]
    return queries[-1] if queries else None


def _without_comments(block: str) -> str:
    comments = _LEADING_COMMENTS.match(block)
    return block[comments.end() :] if comments is not None else block


def _paragraph(text: str) -> str:
    return _PARAGRAPH_END.split(text.lstrip(" \t\n`*"), maxsplit=1)[0]


def _single_query(block: str) -> Reading[str]:
    query, rest = _split_statement(_without_comments(block.strip().strip("`*")))
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
