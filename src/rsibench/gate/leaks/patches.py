"""Added lines of gold and test patches, in any order and with or without diff marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rsibench.gate.leaks.phrases import Match
from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.spec.contamination import LeakClass

_WORD = re.compile(r"[^\W_]+")
_LEAST_CHARACTERS = 12
_COMMON_ITEMS = 2
_LEAST_LINES = 3
_LEAST_SHARE = 0.6
_LEAST_SHARE_CHARACTERS = 40


class PatchIndex:
    """The telling added lines of every item: long enough, and added by no more than two items."""

    def __init__(self, items: Sequence[ProtectedItem]) -> None:
        owners: dict[str, set[str]] = {}
        words: dict[str, str] = {}
        for item in items:
            for patch in item.patches:
                for line, written in _added(patch).items():
                    owners.setdefault(line, set()).add(item.item_id)
                    words[line] = max(_WORD.findall(written), key=len, default="")
        self._owners = {line: ids for line, ids in owners.items() if len(ids) <= _COMMON_ITEMS}
        self._words = {line: words[line] for line in self._owners}
        self._lines: dict[str, set[str]] = {}
        for line, ids in self._owners.items():
            for one in ids:
                self._lines.setdefault(one, set()).add(line)

    @property
    def anchors(self) -> frozenset[str]:
        """The longest word of every line, without which the line is not in a text."""
        return frozenset(self._words.values())

    def search(self, text: str) -> Iterator[Match]:
        """Items of whose added lines the text has three, or most of them."""
        if not self._owners or "\n" not in text:
            return
        lines = {squeezed for line in text.split("\n") if len(squeezed := _squeezed(line)) >= _LEAST_CHARACTERS}
        present: dict[str, set[str]] = {}
        for line in lines & self._owners.keys():
            for one in self._owners[line]:
                present.setdefault(one, set()).add(line)
        for one, found in sorted(present.items()):
            size, all_of_it = sum(map(len, found)), sum(map(len, self._lines[one]))
            whole = size >= _LEAST_SHARE * all_of_it and size >= _LEAST_SHARE_CHARACTERS
            if len(found) >= _LEAST_LINES or whole:
                yield Match(one, LeakClass.PATCH, size / all_of_it, " / ".join(sorted(found)))


def _added(patch: str) -> dict[str, str]:
    """Telling added lines of a diff, squeezed, and as they are written."""
    lines = (line for line in patch.split("\n") if line.startswith("+") and not line.startswith("+++"))
    return {squeezed: line.lower() for line in lines if len(squeezed := _squeezed(line)) >= _LEAST_CHARACTERS}


def _squeezed(line: str) -> str:
    """The line in lower case without diff mark and white space."""
    return "".join(line.lstrip("+- \t").split()).lower()
