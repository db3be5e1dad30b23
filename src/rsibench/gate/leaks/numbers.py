"""Numbers of an item in the item's order, whatever the words between them: what a translation leaves as it is.

Only items with four or more telling numbers can be found so, and only where the numbers stand about as close together
as in the item.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rsibench.gate.leaks.decode import canonical
from rsibench.gate.leaks.phrases import Match
from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.spec.contamination import LeakClass

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+")
_LEAST_NUMBERS = 4
_LEAST_DIGITS = 9
_ANCHOR_DIGITS = 3
_STRETCH = 1.6
_ENGLISH = frozenset({"the", "of", "and", "to", "is", "that", "with", "for", "are", "by", "which", "if", "how", "what"})
_ENGLISH_SHARE = 0.12
_CHARACTERS_A_WORD = 12


class NumberIndex:
    """Number sequences of items by their longest number."""

    def __init__(self, items: Sequence[ProtectedItem]) -> None:
        self._anchors: dict[str, list[tuple[str, tuple[str, ...], int]]] = {}
        for item in items:
            text = canonical(item.prompt).lower()
            numbers = tuple(_NUMBER.findall(text))
            anchor = max(numbers, key=len, default="")
            telling = len(set(numbers)) >= _LEAST_NUMBERS and sum(map(len, numbers)) >= _LEAST_DIGITS
            if telling and len(anchor) >= _ANCHOR_DIGITS:
                reach = int(_STRETCH * len(_WORD.findall(text)) * _CHARACTERS_A_WORD)
                self._anchors.setdefault(anchor, []).append((item.item_id, numbers, reach))

    @property
    def anchors(self) -> frozenset[str]:
        """Numbers without which no item's sequence is in a text."""
        return frozenset(self._anchors)

    def search(self, text: str) -> Iterator[Match]:
        """Items whose numbers stand in the text one after another, with no other numbers between them."""
        if not self._anchors:
            return
        places = list(_NUMBER.finditer(text))
        numbers = [place.group() for place in places]
        for number in sorted(set(numbers) & self._anchors.keys()):
            for item_id, wanted, reach in self._anchors[number]:
                start = _run_start(numbers, wanted, number)
                if start is None:
                    continue
                low, high = places[start].start(), places[start + len(wanted) - 1].end()
                if high - low <= reach:
                    span = text[max(0, low - 200) : high + 200]
                    yield Match(item_id, _class_of(span), 1.0, span)


def _run_start(numbers: Sequence[str], wanted: Sequence[str], anchor: str) -> int | None:
    """Where `wanted` stands in `numbers` as a run, or None."""
    offset = wanted.index(anchor)
    for place, number in enumerate(numbers):
        start = place - offset
        if number == anchor and start >= 0 and tuple(numbers[start : start + len(wanted)]) == tuple(wanted):
            return start
    return None


def _class_of(span: str) -> LeakClass:
    words = _WORD.findall(span.lower())
    english = sum(word in _ENGLISH for word in words)
    return LeakClass.PARAPHRASE if english >= _ENGLISH_SHARE * len(words) else LeakClass.TRANSLATION
