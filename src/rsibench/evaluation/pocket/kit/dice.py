"""Seeded draws that are the same on every machine and Python version. Not a source of secrets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws made from `Random.random()` alone: the one method whose sequence Python promises to keep."""

    def __init__(self, *seed: object) -> None:
        """`seed` is any number of parts; every part counts."""
        self._random = random.Random("\x1f".join(str(part) for part in seed))

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, values: Sequence[T]) -> T:
        """One of `values`."""
        return values[self.between(0, len(values) - 1)]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """All of `values` in a new order."""
        rest = list(values)
        return [rest.pop(self.between(0, len(rest) - 1)) for _ in range(len(rest))]

    def sample(self, values: Sequence[T], count: int) -> list[T]:
        """`count` different positions of `values`."""
        return self.shuffled(values)[:count]
