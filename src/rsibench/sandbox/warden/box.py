"""Box: what a provider does within the process that holds a sandbox. The order of things is main.py's."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from rsibench.ports.sandbox import SandboxEnd


class Box(Protocol):
    """One sandbox, from its mounts to its last trace."""

    control: Path
    """Where the first program inside finds the control socket, as a path of the host; bound before `launch`."""

    def prepare(self) -> Mapping[str, str]:
        """Mounts and limits; how each limit is enforced. Raises EnvironmentFault."""

    def launch(self) -> subprocess.Popen[bytes]:
        """Starts it; its output is the own process's. Raises EnvironmentFault."""

    def over_limit(self) -> str:
        """`memory` or `disk` when a limit that nobody else enforces is passed, else empty. Asked now and then."""

    def kill(self) -> None:
        """Kills everything inside at once. Repeatable."""

    def finish(self, end: SandboxEnd) -> SandboxEnd:
        """After everything inside is dead: gives the folders back, removes limits; `end` with what it knows."""
