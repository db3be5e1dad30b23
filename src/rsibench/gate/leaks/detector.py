"""The detector: rows in, findings out, a block of rows at a time.

Invariant: memory holds one block, whatever the number of rows; every row goes through the same stages whichever item it
resembles, and which item that was is in the findings only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rsibench.gate.leaks.anchors import Anchors
from rsibench.gate.leaks.code_prints import CodeIndex
from rsibench.gate.leaks.compare import judge, signs_of
from rsibench.gate.leaks.decode import canonical, hidden_texts
from rsibench.gate.leaks.findings import Finding
from rsibench.gate.leaks.index import Candidate, TextIndex
from rsibench.gate.leaks.numbers import NumberIndex
from rsibench.gate.leaks.options import OptionIndex
from rsibench.gate.leaks.patches import PatchIndex
from rsibench.gate.leaks.phrases import RUN_ANSWERS, Match, PhraseIndex
from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.gate.leaks.words import Block
from rsibench.spec.contamination import LeakClass

BLOCK_BYTES = 1 << 19
_LONG_WORD_BYTES = 20
_SPACED_WORDS = 12
_SLACK_WORDS = 30
_SPREAD = 3
_SPAN_CHARACTERS = 400
_MOST_CANDIDATES = 48


class Searcher(Protocol):
    """Looks for items in one canonical text."""

    def search(self, text: str, /) -> Iterable[Match]: ...


class ProtectedIndex:
    """Everything that is protected, ready to be searched. Never serialised; safe to share between threads."""

    def __init__(
        self,
        items: Sequence[ProtectedItem],
        canaries: Sequence[str] = (),
        key: int | None = None,
        semantic: Searcher | None = None,
    ) -> None:
        """`semantic` is a further search of every row, such as a SemanticStage over the same items."""
        self.items = tuple(items)
        self.semantic = semantic
        self.texts = TextIndex(self.items, key)
        self.phrases = PhraseIndex(self.items, canaries)
        self.options = OptionIndex(self.items)
        self.patches = PatchIndex(self.items)
        self.codes = CodeIndex(self.items)
        self.numbers = NumberIndex(self.items)
        hasher = self.texts.hasher
        searches = (self.phrases, self.options, self.patches, self.numbers)
        self.anchored = tuple((Anchors(hasher, index.anchors), index.search) for index in searches)


class Detector:
    """Looks through the rows of one submission. Not for use by two threads at once."""

    def __init__(self, index: ProtectedIndex) -> None:
        self._index = index
        self._rows: list[tuple[int, str]] = []
        self._bytes = 0
        self._findings: list[Finding] = []

    def take(self, number: int, texts: Sequence[str]) -> list[Finding]:
        """Takes a row's texts in order; returns what was found so far in the rows before and has not been returned."""
        text = canonical("\n".join(texts))
        self._rows.append((number, text))
        self._bytes += len(text)
        return self.finish() if self._bytes >= BLOCK_BYTES else []

    def finish(self) -> list[Finding]:
        """Everything that was found and not returned yet, by row; the most telling class of each row and item."""
        rows, self._rows, self._bytes = self._rows, [], 0
        if not rows:
            return []
        suspects = self._search([(number, text, "") for number, text in rows])
        hidden = [
            (rows[segment][0], text, "decoded") for segment in suspects for text in hidden_texts(rows[segment][1])
        ]
        if hidden:
            self._search(hidden)
        found, self._findings = self._findings, []
        return _most_telling(found)

    def _search(self, rows: Sequence[tuple[int, str, str]]) -> list[int]:
        """Searches segments; returns those that may hold something encoded."""
        block = self._index.texts.hasher.block([text for _, text, _ in rows])
        by_segment: dict[int, list[Candidate]] = {}
        for candidate in self._index.texts.candidates(block):
            by_segment.setdefault(candidate.segment, []).append(candidate)
        for segment, candidates in by_segment.items():
            candidates.sort(key=lambda one: one.share, reverse=True)
            for candidate in candidates[:_MOST_CANDIDATES]:
                self._judge(rows[segment], block, candidate)
        for anchors, search in self._index.anchored:
            for segment in anchors.segments(block):
                self._note(rows[segment], search(rows[segment][1]))
        for segment in _lists(block):
            self._note(rows[segment], self._index.phrases.runs(rows[segment][1]))
        for row in rows:
            self._note(row, self._index.codes.search(row[1]))
            if self._index.semantic is not None:
                self._note(row, self._index.semantic.search(row[1]))
        return _suspects(block, [text for _, text, _ in rows])

    def _note(self, row: tuple[int, str, str], matches: Iterable[Match]) -> None:
        for item, leak, share, span in matches:
            self._findings.append(Finding(row[0], leak, item, share, row[2] or "plain", span[:_SPAN_CHARACTERS]))

    def _judge(self, row: tuple[int, str, str], block: Block, candidate: Candidate) -> None:
        text = self._index.texts.texts[candidate.text]
        low, high = _window(candidate.places, len(text.words))
        begin, end = np.searchsorted(block.segment, [candidate.segment, candidate.segment + 1]).tolist()
        low, high = max(begin, low), min(end, high)
        words = block.words(low, high)
        judged = judge(text.words, words, (text.signs, signs_of(block.text(low, high))))
        if judged is not None:
            via = "+".join(part for part in (row[2], text.via) if part)
            span = block.text(low, high)[:_SPAN_CHARACTERS]
            item = self._index.items[text.item].item_id
            self._findings.append(Finding(row[0], judged.leak, item, judged.share, via, span))


def _window(places: NDArray[np.int64], words: int) -> tuple[int, int]:
    """Word positions around the hits: all of them when they lie close, or where they lie densest."""
    low, high = int(places.min()), int(places.max())
    if high - low > _SPREAD * words + _SLACK_WORDS:
        ordered = np.sort(places)
        reach = int(1.5 * words) + _SLACK_WORDS
        inside = np.searchsorted(ordered, ordered + reach, side="right") - np.arange(len(ordered))
        low = int(ordered[int(np.argmax(inside))])
        high = low + reach
    margin = min(words, _SLACK_WORDS)
    return max(0, low - margin), high + margin + 5


def _suspects(block: Block, texts: Sequence[str]) -> list[int]:
    """Segments with long words, letters set apart, escapes or entities."""
    length = block.ends - block.starts
    marked = set(np.unique(block.segment[length >= _LONG_WORD_BYTES]).tolist())
    single = np.concatenate([[0], np.cumsum(length == 1)])
    if len(single) > _SPACED_WORDS:
        runs = np.flatnonzero(single[_SPACED_WORDS:] - single[:-_SPACED_WORDS] == _SPACED_WORDS)
        marked.update(np.unique(block.segment[runs]).tolist())
    marked.update(place for place, text in enumerate(texts) if text.count("%") >= 4 or text.count("&") >= 2)
    return sorted(marked)


def _lists(block: Block) -> list[int]:
    """Segments with enough numbers and single letters to be a list of answers."""
    short = (block.exact != block.loose) | (block.ends - block.starts == 1)
    counts = np.bincount(block.segment[short])
    return np.flatnonzero(counts >= RUN_ANSWERS).tolist()


_RANK = {leak: place for place, leak in enumerate(LeakClass)}


def _most_telling(found: Sequence[Finding]) -> list[Finding]:
    best: dict[tuple[int, str], Finding] = {}
    for one in sorted(found, key=lambda one: (one.row, _RANK[one.leak], -one.share)):
        best.setdefault((one.row, one.item_id), one)
    return sorted(best.values(), key=lambda one: (one.row, _RANK[one.leak], -one.share))
