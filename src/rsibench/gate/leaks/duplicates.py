"""Rows that repeat earlier rows of the same submission, exactly or nearly.

Exact: the same texts up to case and white space. Near: five of six min-hashes over runs of four words agree, which rows
with nine tenths of their runs in common do in about nine cases of ten. Counts only; nothing is removed.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rsibench.gate.leaks.words import WordHasher, grams

MOST_ROWS = 250_000
"""Rows that are remembered, so that memory stays bounded; later rows are compared with these only."""
_RUN_WORDS = 4
_HASHES = 6
_AGREEING = 5
_HASHER = WordHasher(4)
_SEEDS = np.random.Generator(np.random.PCG64(20)).integers(1, 2**63, size=_HASHES, dtype=np.uint64) | np.uint64(1)


class DuplicateCounts(NamedTuple):
    """Rows looked at, and those that repeat an earlier one. A row counts once."""

    rows: int
    exact: int
    near: int


class DuplicateCounter:
    """Remembers a digest and six numbers a row."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()
        self._by_hash: list[dict[int, list[tuple[int, ...]]]] = [{} for _ in range(_HASHES)]
        self._rows = self._exact = self._near = 0

    @property
    def counts(self) -> DuplicateCounts:
        """The counts so far."""
        return DuplicateCounts(self._rows, self._exact, self._near)

    def take(self, texts: Sequence[str]) -> None:
        """Looks at one row's texts."""
        self._rows += 1
        words = "\x1f".join(texts).lower().split()
        joined = " ".join(words)
        digest = hashlib.blake2b(joined.encode("utf-8", "replace"), digest_size=16).digest()
        if digest in self._digests:
            self._exact += 1
            return
        if len(self._digests) >= MOST_ROWS:
            return
        self._digests.add(digest)
        signature = _signature(joined)
        near = False
        for place, table in enumerate(self._by_hash):
            for other in table.get(signature[place], ()):
                near = near or sum(a == b for a, b in zip(signature, other, strict=True)) >= _AGREEING
            if not near and place < _HASHES - _AGREEING + 1:
                table.setdefault(signature[place], []).append(signature)
        self._near += near


def _signature(text: str) -> tuple[int, ...]:
    runs = grams(_HASHER.block([text]).exact, _RUN_WORDS)
    if not len(runs):
        return (zlib.crc32(text.encode("utf-8", "replace")),) * _HASHES
    return tuple(int((runs * seed >> np.uint64(7)).min()) for seed in _SEEDS)
