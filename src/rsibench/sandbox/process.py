"""The controller's end of a sandbox: starts the process that holds it, waits until it is ready, tells it what to do.

The holder ends with the controller because it reads a pipe that only the controller has; so a `kill -9` of the
controller ends everything. It may be started from any thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from rsibench.errors import EnvironmentFault
from rsibench.ports.sandbox import SandboxCause, SandboxEnd
from rsibench.sandbox.state import Claim, reap
from rsibench.sandbox.warden.plan import WardenPlan, end_of

_START_SECONDS = 90.0
_FINISH_SECONDS = 300.0
_CHUNK_BYTES = 1 << 16
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class HeldSandbox:
    """A SandboxProcess."""

    def __init__(
        self,
        plan: WardenPlan,
        claim: Claim,
        stdout: Path | None,
        stderr: Path,
        environment: Mapping[str, str],
    ) -> None:
        self.end: SandboxEnd | None = None
        self.facts: dict[str, str] = {}
        """How each limit is enforced."""
        self._root = claim.folder.parent
        status, said = os.pipe()
        self._status = os.fdopen(status, "rb", buffering=0)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-m", "rsibench.sandbox.warden.main", str(said)],
                env={"PATH": _SYSTEM_PATH, **environment},
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(said, claim.lock),
                start_new_session=True,
            )
        finally:
            os.close(said)
            os.close(claim.lock)
        self.pid = self._process.pid
        self.stdout: IO[bytes] | None = self._process.stdout if stdout is None else None
        self._pumps = [
            _pump(source, target, plan.spec.limits.output_bytes)
            for source, target in ((self._process.stdout, stdout), (self._process.stderr, stderr))
            if source is not None and target is not None
        ]
        self._say(plan.dumped())
        self._await_ready(stderr)

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._known(self._process.poll())

    def wait(self, timeout_seconds: float) -> int | None:
        """The exit code, or None when it still runs after `timeout_seconds`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._known(self._process.wait(timeout_seconds))
        return None

    def interrupt(self, number: signal.Signals) -> None:
        """A signal for the program and its group."""
        self._say(f"signal {int(number)}")

    def stop(self, number: signal.Signals = signal.SIGTERM, grace_seconds: float = 5.0) -> int:
        """Asks, waits, kills; then the folders are the caller's again."""
        if self.poll() is None:
            self._say(f"stop {int(number)}")
            self.wait(grace_seconds)
        self._close_input()
        code = self.wait(_FINISH_SECONDS)
        if code is None:
            self._process.kill()
            code = self._known(self._process.wait())
        for pump in self._pumps:
            pump.join()
        self._status.close()
        return code if code is not None else self._process.returncode

    def _await_ready(self, log: Path) -> None:
        said = self._heard(_START_SECONDS)
        if "ready" in said:
            self.facts = dict(said["ready"])
            return
        self.end = SandboxEnd(SandboxCause.LOST, 1)
        self.stop()
        if self.stdout is not None:
            self.stdout.close()
        raise EnvironmentFault(
            f"the sandbox did not start: {said.get('failed', 'its process ended')}",
            where=str(log),
            fix=said.get("fix") or "see that file, and `rsibench doctor`",
        )

    def _heard(self, timeout_seconds: float) -> dict[str, Any]:
        """The next line of the holder, {} when it says nothing any more or in time."""
        text = b""
        while not text.endswith(b"\n"):
            if not select.select([self._status], [], [], timeout_seconds)[0]:
                return {}
            more = self._status.read(1)
            if not more:
                return {}
            text += more
        found: dict[str, Any] = json.loads(text)
        return found

    def _known(self, code: int | None) -> int | None:
        """The exit code of the program, once the holder has ended; how it ended is read then."""
        if code is None:
            return None
        if self.end is None:
            said = self._heard(0)
            self.end = end_of(said["end"]) if "end" in said else SandboxEnd(SandboxCause.LOST, 128 + signal.SIGKILL)
            self._close_input()
            reap(self._root)
        return self.end.exit_code

    def _say(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.flush()

    def _close_input(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()


def _pump(source: IO[bytes], target: Path, most_bytes: int) -> threading.Thread:
    target.parent.mkdir(parents=True, exist_ok=True)
    thread = threading.Thread(target=_copy, args=(source, target, most_bytes), name="sandbox-output", daemon=True)
    thread.start()
    return thread


def _copy(source: IO[bytes], target: Path, most_bytes: int) -> None:
    """Appends what comes, up to `most_bytes` and a note; goes on reading after it so that nobody waits."""
    left = most_bytes
    with source, target.open("ab", buffering=0) as file:
        while chunk := os.read(source.fileno(), _CHUNK_BYTES):
            with contextlib.suppress(OSError):
                file.write(chunk[:left])
                if 0 < left < len(chunk):
                    file.write(b"\n[what follows was dropped: too much output]\n")
            left = max(left - len(chunk), 0)
