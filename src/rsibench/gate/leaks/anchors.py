"""Telling words that lead to a closer search: which segments of a block have one of them.

A search that would cost Python time for every row is only made where one of its words turns up.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rsibench.gate.leaks.decode import canonical
from rsibench.gate.leaks.words import Block, WordHasher

_BITS = 18


class Anchors:
    """A set of words under a hasher's key."""

    def __init__(self, hasher: WordHasher, words: Iterable[str]) -> None:
        text = canonical("\n".join(sorted(set(words))))
        self._hashes = np.unique(hasher.block([text]).exact) if text else np.zeros(0, dtype=np.uint64)
        self._sieve = np.zeros(1 << _BITS, dtype=np.bool_)
        self._sieve[self._hashes >> np.uint64(64 - _BITS)] = True

    def segments(self, block: Block) -> frozenset[int]:
        """Segments that have at least one of the words."""
        if not len(self._hashes):
            return frozenset()
        hits = np.flatnonzero(self._sieve[block.exact >> np.uint64(64 - _BITS)])
        hits = hits[np.isin(block.exact[hits], self._hashes)]
        return frozenset(np.unique(block.segment[hits]).tolist())
