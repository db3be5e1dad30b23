"""A watchdog for limits that the kernel does not enforce here: memory of a process tree, size of a folder.

It looks some times a second, so a limit can be passed for a moment; a probe's facts say where a limit is only watched.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_DISK_SECONDS = 1.0


@dataclass
class Watchdog:
    """What to watch; None for what needs no watching."""

    memory_bytes: int | None
    disk: tuple[Callable[[], int], int] | None
    """How to learn what is used, and the most that may be."""
    root: int | None = None
    """The process whose descendants count."""
    _looked_seconds: float = 0.0

    def over_limit(self) -> str:
        """`memory`, `disk` or nothing."""
        if self.memory_bytes is not None and self.root is not None and resident_bytes(self.root) > self.memory_bytes:
            return "memory"
        now = time.monotonic()
        if self.disk is not None and now - self._looked_seconds >= _DISK_SECONDS:
            self._looked_seconds = now
            used, most = self.disk
            try:
                return "disk" if used() > most else ""
            except (OSError, RecursionError):  # a tree made so deep that it cannot be measured
                return "disk"
        return ""


def resident_bytes(root: int) -> int:
    """Resident memory of a process and all its descendants; pages that several share count several times."""
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError, IndexError, ValueError):
            total += int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * _PAGE_BYTES
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                children = Path(f"/proc/{pid}/task/{task}/children").read_text("ascii")
                waiting += [int(one) for one in children.split()]
    return total
