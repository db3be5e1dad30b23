"""Canaries, names of items, and answers listed by name. Exact, on letters and digits only.

A name counts when it is distinctive by itself: three words or more with a number, or one long word with digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.spec.contamination import LeakClass

_WORD = re.compile(r"[^\W_]+")
_LONG_NAME = 12
_LEAST_NAME_WORDS = 3
_KEY_ITEMS = 4
RUN_ANSWERS = 12
_ENTRY = re.compile(r"(?:^|[\n,;])\s*(?:\(?\d{1,3}[.):]|[-*])?\s*([A-Za-z]|-?\d{1,6})\s*(?=[\n,;]|$)")


class Match(NamedTuple):
    """An item's identity, the class, how much was found, and the words it was found in."""

    item_id: str
    leak: LeakClass
    share: float
    span: str


class PhraseIndex:
    """Markers and names, found with one pattern each."""

    def __init__(self, items: Sequence[ProtectedItem], canaries: Sequence[str]) -> None:
        self._names: dict[str, str] = {}
        for item in items:
            for name in item.names:
                words = _WORD.findall(name.casefold())
                if _distinctive(words):
                    self._names[" ".join(words)] = item.item_id
        self._anchors: dict[str, list[str]] = {}
        for name in self._names:
            anchor = max(name.split(), key=lambda word: (any(map(str.isdigit, word)), len(word)))
            self._anchors.setdefault(anchor, []).append(name)
        self._canaries = tuple(canary.casefold() for canary in canaries)
        self._answers = [item.answer.casefold() if item.answer else "" for item in items]
        joined = self._answers
        self._runs = {
            tuple(joined[start : start + RUN_ANSWERS])
            for start in range(len(joined) - RUN_ANSWERS + 1)
            if all(0 < len(answer) <= 6 for answer in joined[start : start + RUN_ANSWERS])
            and len(set(joined[start : start + RUN_ANSWERS])) > 2
        }

    @property
    def anchors(self) -> frozenset[str]:
        """Words without which no canary or name is in a text."""
        canaries = {max(_WORD.findall(canary), key=len, default="") for canary in self._canaries}
        return frozenset(self._anchors) | canaries

    def runs(self, text: str) -> Iterator[Match]:
        """Answers of many items in the order of the items."""
        if self._runs and text.count("\n") + text.count(",") + text.count(";") >= RUN_ANSWERS - 1:
            entries = [entry.casefold() for entry in _ENTRY.findall(text)]
            for start in range(len(entries) - RUN_ANSWERS + 1):
                if tuple(entries[start : start + RUN_ANSWERS]) in self._runs:
                    yield Match("a run of answers", LeakClass.ANSWER_KEY, 1.0, " ".join(entries))
                    return

    def search(self, text: str) -> Iterator[Match]:
        """Canaries and names in a canonical text."""
        lowered = text.lower()
        for canary in self._canaries:
            if canary in lowered:
                yield Match("canary", LeakClass.CANARY, 1.0, canary)
        yield from self._named(lowered)

    def _named(self, lowered: str) -> Iterator[Match]:
        words = _WORD.findall(lowered)
        names = {name for word in set(words) & self._anchors.keys() for name in self._anchors[word]}
        if not names:
            return
        joined = f" {' '.join(words)} "
        present = [name for name in names if f" {name} " in joined]
        leak = LeakClass.ANSWER_KEY if len(present) >= _KEY_ITEMS else LeakClass.IDENTIFIER
        for name in sorted(present):
            yield Match(self._names[name], leak, 1.0, name)


def _distinctive(words: Sequence[str]) -> bool:
    with_digits = [word for word in words if any(map(str.isdigit, word))]
    return bool(with_digits) and (len(words) >= _LEAST_NAME_WORDS or max(map(len, with_digits)) >= _LONG_NAME)
