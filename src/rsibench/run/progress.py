"""Progress: what the controller is doing now, written by its threads and read by whoever shows it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Doing:
    """The current stage of work, with how much of it is done. `unit` names what is counted, such as `tokens`."""

    stage: str = "starting"
    attempt: int | None = None
    done: int = 0
    total: int = 0
    unit: str = ""
    note: str = ""


class Progress:
    """A thread-safe holder of one `Doing`. Reading it never waits for the work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._doing = Doing()

    def begin(self, stage: str, *, attempt: int | None = None, total: int = 0, unit: str = "") -> None:
        """A new stage starts; its count starts at zero."""
        with self._lock:
            self._doing = Doing(stage=stage, attempt=attempt, total=total, unit=unit)

    def advance(self, done: int, *, total: int | None = None, note: str | None = None) -> None:
        """`done` of `total` units are finished."""
        with self._lock:
            now = self._doing
            self._doing = replace(
                now, done=done, total=now.total if total is None else total, note=now.note if note is None else note
            )

    def now(self) -> Doing:
        """What is being done at this moment."""
        with self._lock:
            return self._doing
