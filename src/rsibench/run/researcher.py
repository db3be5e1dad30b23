"""The researcher's process: started in its workspace with a clean environment, stopped with everything it started.

Unisolated: it runs as the same user as the controller. A run driven this way is labelled `unisolated` for ever.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from rsibench.researchers.catalogue import ResearcherCommand
from rsibench.spec.settings import harmless_environment

_GRACE_SECONDS = 5.0
LAB_VARIABLE = "RSIBENCH_LAB"


class ResearcherProcess:
    """One start of a researcher. Its output goes to a log file; its process group dies with `stop`."""

    def __init__(self, command: ResearcherCommand, workspace: Path, socket: Path, log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            command.argv,
            cwd=workspace,
            env=_environment(socket) | command.environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._process.poll()

    def wait(self, timeout_seconds: float) -> int | None:
        """The exit code, or None when it still runs after `timeout_seconds`."""
        try:
            return self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> int | None:
        """Ask the whole process group to end, then kill what is left of it. Returns the leader's exit code."""
        self._signal(signal.SIGTERM)
        if self.wait(_GRACE_SECONDS) is None:
            self._signal(signal.SIGKILL)
            self.wait(_GRACE_SECONDS)
        self._signal(signal.SIGKILL)
        self._log.close()
        return self._process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _environment(socket: Path) -> dict[str, str]:
    """What the researcher may know: where the lab is, and a few harmless facts; no key of the controller's."""
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    return harmless_environment() | {"PATH": path, LAB_VARIABLE: str(socket)}
