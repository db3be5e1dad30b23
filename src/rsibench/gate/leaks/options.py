"""Sets of options, without order and letters. Sets that are too short to be an item's own do not count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rsibench.gate.leaks.decode import canonical
from rsibench.gate.leaks.phrases import Match
from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.spec.contamination import LeakClass

_WORD = re.compile(r"[^\W_]+")
_LEAST_OPTIONS = 3
_LEAST_WORDS = 10


class OptionIndex:
    """Looks for all options of an item. The longest word of one option leads to the item."""

    def __init__(self, items: Sequence[ProtectedItem]) -> None:
        self._anchors: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for item in items:
            options = tuple(" ".join(_WORD.findall(canonical(option).lower())) for option in item.options)
            words = " ".join(options).split()
            if len(set(options)) >= _LEAST_OPTIONS and len(words) >= _LEAST_WORDS:
                anchor = max(words, key=len)
                self._anchors.setdefault(anchor, []).append((item.item_id, options))

    @property
    def anchors(self) -> frozenset[str]:
        """Words without which no set of options is in a text."""
        return frozenset(self._anchors)

    def search(self, text: str) -> Iterator[Match]:
        """Items all of whose options are in the text, each as whole words."""
        if not self._anchors:
            return
        words = _WORD.findall(text.lower())
        known = set(words) & self._anchors.keys()
        if not known:
            return
        joined = f" {' '.join(words)} "
        for anchor in sorted(known):
            for item_id, options in self._anchors[anchor]:
                if all(f" {option} " in joined for option in options):
                    yield Match(item_id, LeakClass.OPTIONS, 1.0, " | ".join(options))
