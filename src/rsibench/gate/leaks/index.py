"""The index of protected texts: word 5-grams with numbers abstracted, by keyed hash, with their weight.

Each text is held plain, in rot13 and reversed, so that rows need not be decoded for these. Invariants: the index lives
in memory only, under a key that is drawn anew; grams that a large share of the items has (requests for a form of
answer) are left out; weights are inverse document frequencies over items, so that shared wording counts little.
"""

from __future__ import annotations

import codecs
import math
import secrets
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsibench.gate.leaks.compare import signs_of
from rsibench.gate.leaks.decode import canonical
from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.gate.leaks.words import Block, Hashes, WordHasher, grams

_COMMON_ITEMS = 24
_COMMON_SHARE = 0.1
_LEAST_BITS, _MOST_BITS = 12, 24
_SPARSENESS = 16
_LEAST_CANDIDATE_SHARE = 0.12
_LEAST_CANDIDATE_GRAMS = 2
_TEXT_BITS, _PLACE_BITS = 22, 20
_MOST_WORDS = (1 << _PLACE_BITS) - 1


class ProtectedText(NamedTuple):
    """One form of one item's text. `via` says how it is written: plain, rot13 or reversed."""

    item: int
    via: str
    words: tuple[str, ...]
    signs: str
    loose_total: float
    """Sum of the weights of its distinct grams."""


class Candidate(NamedTuple):
    """A segment that shares grams with a text: the share of its weight, and where in the block (word positions)."""

    segment: int
    text: int
    share: float
    places: NDArray[np.int64]


class TextIndex:
    """Finds candidates; see the module. `items` are addressed by their position."""

    def __init__(self, items: Sequence[ProtectedItem], key: int | None = None) -> None:
        self.hasher = WordHasher(secrets.randbits(64) if key is None else key)
        forms = [(number, via, text) for number, item in enumerate(items) for via, text in _forms(item)]
        block = self.hasher.block([text for _, _, text in forms])
        self._keys, self._offsets, self._texts, weights, self._places = self._postings(block, forms, len(items))
        self._weights = weights
        totals = np.bincount(self._texts, weights=weights, minlength=len(forms))
        ends = np.searchsorted(block.segment, np.arange(len(forms)), side="right").tolist()
        starts = [0, *ends[:-1]]
        self.texts = tuple(
            ProtectedText(
                item, via, tuple(block.words(start, min(end, start + _MOST_WORDS))), signs_of(text), float(total)
            )
            for (item, via, text), start, end, total in zip(forms, starts, ends, totals, strict=True)
        )
        self._totals = totals
        bits = min(_MOST_BITS, max(_LEAST_BITS, (len(self._keys) * _SPARSENESS).bit_length()))
        self._shift = np.uint64(64 - bits)
        self._sieve = np.zeros(1 << bits, dtype=np.bool_)
        self._sieve[self._keys >> self._shift] = True

    def candidates(self, block: Block) -> list[Candidate]:
        """Texts that a segment of the block may hold, in the order of segments."""
        row_grams = grams(block.loose)
        if not len(row_grams) or not len(self._keys):
            return []
        hits = np.flatnonzero(self._sieve[row_grams >> self._shift])
        hits = hits[block.segment[hits] == block.segment[hits + 4]]
        found = np.searchsorted(self._keys, row_grams[hits])
        real = (found < len(self._keys)) & (self._keys[np.minimum(found, len(self._keys) - 1)] == row_grams[hits])
        return self._gathered(block, hits[real], found[real])

    def _gathered(self, block: Block, hits: NDArray[np.int64], found: NDArray[np.int64]) -> list[Candidate]:
        """Groups hits by segment and text and adds up the weights of the distinct grams of the text."""
        counts = self._offsets[found + 1] - self._offsets[found]
        if not counts.sum():
            return []
        ends = np.cumsum(counts)
        posting = np.arange(ends[-1]) - np.repeat(ends - counts, counts) + np.repeat(self._offsets[found], counts)
        place = np.repeat(hits, counts)
        pair = (block.segment[place] << _TEXT_BITS) | self._texts[posting]
        distinct = np.unique((pair << _PLACE_BITS) | self._places[posting], return_index=True)[1]
        pairs, inverse, grams_found = np.unique(pair[distinct], return_inverse=True, return_counts=True)
        weight = np.bincount(inverse, weights=self._weights[posting[distinct]])
        text = pairs & ((1 << _TEXT_BITS) - 1)
        share = weight / np.maximum(self._totals[text], 1e-9)
        good = (share >= _LEAST_CANDIDATE_SHARE) & (
            grams_found >= np.minimum(_LEAST_CANDIDATE_GRAMS, grams_found.max())
        )
        order = np.argsort(pair, kind="stable")
        sorted_pair, sorted_place = pair[order], place[order]
        lows = np.searchsorted(sorted_pair, pairs[good], side="left")
        highs = np.searchsorted(sorted_pair, pairs[good], side="right")
        return [
            Candidate(int(one >> _TEXT_BITS), int(one & ((1 << _TEXT_BITS) - 1)), float(part), sorted_place[low:high])
            for one, part, low, high in zip(pairs[good], share[good], lows, highs, strict=True)
        ]

    def _postings(
        self, block: Block, forms: Sequence[tuple[int, str, str]], items: int
    ) -> tuple[Hashes, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
        """Sorted distinct grams, offsets into postings, and the postings' texts, weights and places (all int64)."""
        found = grams(block.loose)
        whole = (
            np.flatnonzero(block.segment[: len(found)] == block.segment[4:]) if len(found) else np.zeros(0, np.int64)
        )
        values, segment = found[whole], block.segment[whole]
        item_of = np.fromiter((item for item, _, _ in forms), dtype=np.int64, count=len(forms))[segment]
        order = np.argsort(values, kind="stable")
        values, segment, place, item_of = values[order], segment[order], whole[order], item_of[order]
        keys, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        owners = np.unique((inverse.astype(np.int64) << _TEXT_BITS) | item_of)
        frequency = np.bincount(owners >> _TEXT_BITS, minlength=len(keys))
        rare = frequency <= max(_COMMON_ITEMS, _COMMON_SHARE * items)
        keep = rare[inverse]
        kept_counts = np.where(rare, np.diff([*first.tolist(), len(values)]), 0)
        offsets = np.concatenate([[0], np.cumsum(kept_counts[rare])]).astype(np.int64)
        weights = np.log((items + math.e - 1) / np.maximum(frequency, 1))[inverse]
        return keys[rare], offsets, segment[keep], weights[keep], place[keep]


def _forms(item: ProtectedItem) -> list[tuple[str, str]]:
    text = canonical(item.prompt)
    words = text.split()
    return [
        ("plain", text),
        ("rot13", codecs.encode(text, "rot13")),
        ("reversed", text[::-1]),
        ("words reversed", " ".join(reversed(words))),
    ]
