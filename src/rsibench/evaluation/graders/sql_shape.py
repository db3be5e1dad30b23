"""How much a query grows when SQLite compiles it: common table expressions are copied wherever they are named.

SQLite copies them before it asks anybody or counts any step, so that a chain of expressions that name each other twice
takes memory without limit. This bound is read from the text, and errs upwards only.
"""

from __future__ import annotations

import re
from collections import Counter
from math import prod

_TOKEN = re.compile(
    r"--[^\n]*+|/\*.*?(?:\*/|\Z)|'[^']*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|\[[^\]]*+(?:\]|\Z)|`[^`]*+(?:`|\Z)|[\w$]++|\S",
    re.DOTALL,
)
_COMMENTS = ("--", "/*")
_BEFORE_BODY = frozenset(["not", "materialized"])


def copies(query: str) -> int:
    """An upper bound of how often any part of the query is copied; 1 for a query without common table expressions."""
    tokens = [token.lower() for token in _TOKEN.findall(query) if not token.startswith(_COMMENTS)]
    named = Counter(_plain(token) for token in tokens)
    return prod(max(1, named[_plain(name)] - 1) for name in _defined(tokens))


def _defined(tokens: list[str]) -> list[str]:
    """Every `name` of `name [(columns)] AS [[NOT] MATERIALIZED] (`."""
    names = []
    for index, word in enumerate(tokens):
        if word == "as" and _body_follows(tokens, index + 1):
            name = _before_columns(tokens, index - 1)
            if name is not None:
                names.append(name)
    return names


def _body_follows(tokens: list[str], index: int) -> bool:
    while index < len(tokens) and tokens[index] in _BEFORE_BODY:
        index += 1
    return index < len(tokens) and tokens[index] == "("


def _before_columns(tokens: list[str], index: int) -> str | None:
    if index >= 0 and tokens[index] == ")":
        while index >= 0 and tokens[index] != "(":
            index -= 1
        index -= 1
    return tokens[index] if index >= 0 else None


def _plain(token: str) -> str:
    """A name without quotes and signs, so that every way to write it is the same."""
    return "".join(filter(str.isalnum, token))
