"""One worker process as the controller sees it: started, spoken to, listened to, killed.

Invariant: its end is always noticed, by the end of its output, and always explained: by the signal that ended it and
the last lines of its log. It has a session of its own, so Ctrl-C in the terminal reaches the controller alone; it ends
when its input closes, so it never outlives the controller. One process serves many commands, one after another.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from rsibench.errors import EnvironmentFault, InfrastructureFailure
from rsibench.run.worker.messages import REPLY, Heartbeat, Message, Reply

_LOG_LINES = 12
_LOG_BYTES = 8192
_MODULE = "rsibench.run.worker.main"
_END_SECONDS = 30.0
"""How long the end of a process may take after the end of its output, or after it was killed."""


class WorkerProcess:
    """Started by the constructor; `log` is appended to. EnvironmentFault when it cannot be started."""

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        self._log = log
        self._killed_as: InfrastructureFailure | None = None
        self._replies: queue.SimpleQueue[Reply | None] = queue.SimpleQueue()
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("ab") as errors:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", _MODULE, *arguments],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                )
        except OSError as error:
            raise EnvironmentFault(
                f"the worker process cannot be started: {error}",
                where=str(log),
                fix="check the run's folder and limits",
            ) from error
        self._reader = threading.Thread(target=self._read, name="worker-replies", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Its process id, also the id of its session."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def send(self, message: Message) -> None:
        """Hands it a command. A process that cannot take it has ended, which `receive` will explain."""
        try:
            stream = self._stdin()
            stream.write(message.line())
            stream.flush()
        except (BrokenPipeError, ValueError):
            return

    def receive(self, silence_seconds: float) -> Reply:
        """Its next reply other than a heartbeat.

        InfrastructureFailure: `worker_timeout` after `silence_seconds` without any sign of life (it is killed then),
        `out_of_memory` or `worker_died` when it ended, or what `kill` was told.
        """
        while True:
            try:
                reply = self._replies.get(timeout=silence_seconds)
            except queue.Empty:
                self.kill(
                    InfrastructureFailure(
                        f"the worker gave no sign of life for {silence_seconds:g} s",
                        failure="worker_timeout",
                        where=str(self._log),
                        fix="see whether the machine is overloaded",
                    )
                )
                continue
            if reply is None:
                self._replies.put(None)  # whoever asks again gets the same answer
                raise self._end()
            if not isinstance(reply, Heartbeat):
                return reply

    def kill(self, reason: InfrastructureFailure) -> None:
        """Ends it at once; whoever waits for it gets `reason`. Harmless when it has ended."""
        if self._killed_as is None and self.alive:
            self._killed_as = reason
        self._process.kill()

    def close(self) -> None:
        """Ends it and waits for its end, so that nothing of it is left."""
        self._process.kill()
        self._process.wait(_END_SECONDS)
        self._reader.join(_END_SECONDS)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue

    def _stdin(self) -> IO[bytes]:
        stream = self._process.stdin
        if stream is None:
            raise ValueError("the worker was started without an input")
        return stream

    def _read(self) -> None:
        """Collects replies until the output ends; a line that is none ends the process, for it cannot be trusted."""
        if self._process.stdout is not None:
            for line in self._process.stdout:
                try:
                    self._replies.put(REPLY.validate_json(line))
                except ValidationError as error:
                    broken = InfrastructureFailure(
                        f"the worker wrote something that is no reply: {error}",
                        failure="worker_died",
                        where=str(self._log),
                    )
                    self.kill(broken)
                    break
        self._replies.put(None)

    def _end(self) -> InfrastructureFailure:
        """Why it ended."""
        code = self._process.wait(_END_SECONDS)
        if self._killed_as is not None:
            return self._killed_as
        if code == -signal.SIGKILL:
            return InfrastructureFailure(
                "the worker was killed, most likely because the machine ran out of memory",
                failure="out_of_memory",
                where=str(self._log),
                fix="free memory or lower recipe.batch_tokens or decoding.batch_rows",
            )
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return InfrastructureFailure(
            f"the worker ended with {how}; its last words: {self._last_words()}",
            failure="worker_died",
            where=str(self._log),
            fix="see the log",
        )

    def _last_words(self) -> str:
        """The last lines of its log."""
        with self._log.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _LOG_BYTES))
            text = stream.read().decode(errors="replace")
        return " | ".join(line for line in text.splitlines()[-_LOG_LINES:] if line.strip()) or "(none)"
