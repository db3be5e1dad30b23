"""Words of many texts at once, as numbers: the vectorised base of every search.

A block is a list of segments (rows). Words are runs of ASCII letters and digits or of bytes above 127; each gets a
keyed 64-bit hash from prefix sums of `byte value x P^position`, so that no word is touched by Python. Invariant: equal
words have equal hashes under one key; hashes say nothing without the key. Hits are verified on the text, never trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

type Hashes = NDArray[np.uint64]
type Offsets = NDArray[np.int64]

GRAM_WORDS = 5
_BASE = 0x9E3779B97F4A7C15
_MIX = np.uint64(0xD6E8FEB86659FD93)
_STEP = np.uint64(0xA0761D6478BD642F)
_FIRST_DIGIT, _LAST_DIGIT = ord("0"), ord("9")
_SPACE_LIMIT = 0x80


class Block(NamedTuple):
    """Words of joined segments. `exact` hashes words as they are, `loose` maps every number to the same hash."""

    data: bytes
    starts: Offsets
    ends: Offsets
    segment: Offsets
    exact: Hashes
    loose: Hashes

    def words(self, first: int, last: int) -> list[str]:
        """Words `first` to `last` (excluded), in lower case."""
        places = zip(self.starts[first:last].tolist(), self.ends[first:last].tolist(), strict=True)
        return [self.data[start:end].lower().decode("utf-8", "replace") for start, end in places]

    def text(self, first: int, last: int) -> str:
        """The text from word `first` to word `last` (excluded), with the signs before and after it."""
        if first >= last:
            return ""
        start = int(self.ends[first - 1]) if first else 0
        end = int(self.starts[last]) if last < len(self.starts) else len(self.data)
        return self.data[start:end].decode("utf-8", "replace")


class WordHasher:
    """Splits and hashes with one key. Safe to share between threads once a block of the largest size was made."""

    def __init__(self, key: int) -> None:
        values = np.random.Generator(np.random.PCG64(key)).integers(1, 2**63, size=256, dtype=np.uint64)
        is_word = np.zeros(256, dtype=np.bool_)
        for byte in range(256):
            is_word[byte] = byte >= _SPACE_LIMIT or chr(byte).isalnum()
        for upper in range(ord("A"), ord("Z") + 1):
            values[upper] = values[upper + ord("a") - ord("A")]
        self._values = values
        self._is_word = is_word
        self._number = np.uint64(values[0])
        self._powers: Hashes = np.ones(1, dtype=np.uint64)
        self._inverse: Hashes = np.ones(1, dtype=np.uint64)

    def block(self, segments: Sequence[str]) -> Block:
        """The words of segments, which are canonical texts. Position arrays count words over the whole block."""
        pieces = [segment.encode("utf-8", "replace") for segment in segments]
        data = b"\n".join(pieces)
        raw = np.frombuffer(data, dtype=np.uint8)
        flags = np.zeros(len(raw) + 2, dtype=np.int8)
        flags[1:-1] = self._is_word[raw]
        edges = np.flatnonzero(np.diff(flags))
        starts, ends = edges[0::2], edges[1::2]
        powers, inverse = self._scale(len(raw) + 1)
        sums = np.zeros(len(raw) + 1, dtype=np.uint64)
        np.cumsum(self._values[raw] * powers[: len(raw)], out=sums[1:])
        exact = (sums[ends] - sums[starts]) * inverse[starts]
        exact ^= exact >> np.uint64(29)
        exact *= _MIX
        first = raw[starts]
        loose = np.where((first >= _FIRST_DIGIT) & (first <= _LAST_DIGIT), self._number, exact)
        bounds = np.cumsum(np.fromiter((len(piece) + 1 for piece in pieces), dtype=np.int64, count=len(pieces)))
        return Block(data, starts, ends, np.searchsorted(bounds, starts, side="right"), exact, loose)

    def _scale(self, size: int) -> tuple[Hashes, Hashes]:
        if len(self._powers) < size:
            self._powers = _powers_of(_BASE, size)
            self._inverse = _powers_of(pow(_BASE, -1, 1 << 64), size)
        return self._powers, self._inverse


def grams(hashes: Hashes, words: int = GRAM_WORDS) -> Hashes:
    """Hashes of every run of `words` words, shape (n - words + 1,); empty when there are fewer words."""
    count = len(hashes) - words + 1
    if count <= 0:
        return np.zeros(0, dtype=np.uint64)
    total = hashes[:count].copy()
    for offset in range(1, words):
        total *= _STEP
        total += hashes[offset : offset + count]
    total ^= total >> np.uint64(31)
    total *= _MIX
    return total


def _powers_of(base: int, size: int) -> Hashes:
    powers = np.full(size, base, dtype=np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)
