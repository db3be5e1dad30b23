"""The researcher's process: started in its workspace with a clean environment, stopped with everything it started.

Unisolated: it runs as the same user as the controller. A run driven this way is labelled `unisolated` for ever.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from rsibench.researchers.catalogue import ResearcherCommand
from rsibench.researchers.transcript import Transcript
from rsibench.spec.settings import harmless_environment

_GRACE_SECONDS = 5.0
LAB_VARIABLE = "RSIBENCH_LAB"


class Running(Protocol):
    """One start of a researcher, wherever it runs."""

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""

    def stop(self) -> int | None:
        """Asks the program to end, then kills all it started; returns its exit code. Ends all reading of its output."""


class ResearcherProcess:
    """One start of a researcher. Its output goes to a log file; all that it started dies with `stop` or with us.

    With a `transcript` its standard output goes there, line by line, and only standard error to the log. `stop_signal`
    is what the program ends on in an orderly way.
    """

    def __init__(
        self,
        command: ResearcherCommand,
        workspace: Path,
        socket: Path,
        log: Path,
        *,
        transcript: Transcript | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("ab")
        self._stop_signal = stop_signal
        self._transcript = transcript
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", _leash(), *command.argv],
            cwd=workspace,
            env=_environment(socket) | command.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if transcript else self._log,
            stderr=self._log if transcript else subprocess.STDOUT,
            start_new_session=True,
        )
        self._pump: threading.Thread | None = None
        if transcript is not None and self._process.stdout is not None:
            self._pump = threading.Thread(target=transcript.pump, args=(self._process.stdout,), daemon=True)
            self._pump.start()

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
        """Ask the program to end, then kill what is left of it and all it started. Returns its exit code."""
        if self._process.poll() is None:
            self._signal(self._stop_signal)
            self.wait(_GRACE_SECONDS)
        if self._process.stdin is not None:
            self._process.stdin.close()  # the leash kills every descendant
        if self.wait(_GRACE_SECONDS) is None:
            self._signal(signal.SIGKILL)
            self.wait(_GRACE_SECONDS)
        if self._pump is not None and self._transcript is not None and self._process.stdout is not None:
            self._pump.join(_GRACE_SECONDS)
            self._process.stdout.close()
            self._transcript.close()
        self._log.close()
        return self._process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _leash() -> str:
    return str(resources.files("rsibench") / "researchers" / "leash.py")


def _environment(socket: Path) -> dict[str, str]:
    """What the researcher may know: where the lab is, and a few harmless facts; no key of the controller's."""
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    return harmless_environment() | {"PATH": path, LAB_VARIABLE: str(socket)}
