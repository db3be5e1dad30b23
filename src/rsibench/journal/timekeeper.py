"""Timekeeper: a run's active time, which grows only while a controller works on the run.

Invariant: it never goes back, whatever the wall clock does, and a pause between two controllers costs nothing. What a
controller did after its last recorded event and before it was killed is not counted. Not here: budgets and deadlines.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class JournalClock(Protocol):
    """The part of a clock that a journal needs: aware UTC wall time, and monotonic seconds."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


class Timekeeper:
    """Continues from `elapsed_ms`, the active time of the run's last event, at the moment it is made."""

    def __init__(self, clock: JournalClock, elapsed_ms: int) -> None:
        self._clock = clock
        self._before_ms = elapsed_ms
        self._started_seconds = clock.monotonic()

    def now(self) -> datetime:
        """The wall clock's time, aware UTC."""
        return self._clock.now()

    def elapsed_ms(self) -> int:
        """The run's active time so far, in milliseconds."""
        return self._before_ms + max(0, int((self._clock.monotonic() - self._started_seconds) * 1_000))
