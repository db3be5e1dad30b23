"""Pace: how fast this machine has been in this run, to judge whether another attempt can still finish."""

from __future__ import annotations

import threading


class Pace:
    """Measured rates. What was never measured counts as instant, because the deadline itself is enforced anyway."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._train_seconds_per_token = 0.0
        self._evaluation_seconds = 0.0

    def trained(self, tokens: int, seconds: float) -> None:
        """A training of `tokens` took `seconds`; the latest measurement counts."""
        with self._lock:
            self._train_seconds_per_token = seconds / max(1, tokens)

    def evaluated(self, seconds: float) -> None:
        """An evaluation on the selection split took `seconds`; the latest measurement counts."""
        with self._lock:
            self._evaluation_seconds = seconds

    def attempt_seconds(self, train_tokens: int) -> float:
        """Seconds that an attempt with `train_tokens` should take from its start to its score."""
        with self._lock:
            return train_tokens * self._train_seconds_per_token + self._evaluation_seconds
