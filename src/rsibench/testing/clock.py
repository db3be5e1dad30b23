"""FakeClock: time that moves only when it is told to."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

_START = datetime(2030, 1, 1, tzinfo=UTC)


class FakeClock:
    """A `ports.clock.Clock`. `sleep` and `advance` move both readings; `turn_back` moves the wall clock alone."""

    def __init__(self, start: datetime = _START) -> None:
        self._lock = threading.Lock()
        self._now = start
        self._monotonic_seconds = 0.0

    def now(self) -> datetime:
        with self._lock:
            return self._now

    def monotonic(self) -> float:
        with self._lock:
            return self._monotonic_seconds

    def sleep(self, seconds: float) -> None:
        """Returns at once, with both readings `seconds` later."""
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Moves both readings forward."""
        if seconds < 0:
            raise ValueError(f"time does not go back: {seconds}")
        with self._lock:
            self._now += timedelta(seconds=seconds)
            self._monotonic_seconds += seconds

    def turn_back(self, seconds: float) -> None:
        """Sets the wall clock back, as an operator or a time service may; monotonic time stays."""
        with self._lock:
            self._now -= timedelta(seconds=seconds)
