"""A two-sided interval for one number, with the confidence that all of this package uses."""

from __future__ import annotations

from typing import NamedTuple

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """Closed bounds in the unit of what they bound: shares from 0 to 1, or differences from -1 to 1."""

    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low

    def holds(self, value: float) -> bool:
        """Whether `value` lies inside, bounds included."""
        return self.low <= value <= self.high
