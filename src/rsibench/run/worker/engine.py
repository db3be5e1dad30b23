"""WorkerEngine: the run's engine, in a worker process that is started when needed and again after any end.

Invariant: a job either ends with its result or raises; a process whose job did not end is never used again, so the next
job starts from files alone and gives what it would have given undisturbed. It is not a queue: one job at a time.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from rsibench import errors
from rsibench.errors import InfrastructureFailure, RsibenchError
from rsibench.run.engine import TrainOrder
from rsibench.run.worker.messages import Completed, Failed, Message, Progressed, Reply, TrainCommand, Trained
from rsibench.run.worker.process import WorkerProcess
from rsibench.run.worker.sampler import WorkerSampler
from rsibench.training.result import TrainingResult, TrainProgress

_RAISED_AGAIN: dict[str, type[RsibenchError]] = {
    kind.__name__: kind for kind in (errors.SpecError, errors.EnvironmentFault, errors.IntegrityError)
}
"""Errors that mean the same on both sides; any other one from inside the worker is an InfrastructureFailure."""


class WorkerSettings(NamedTuple):
    """`threads` None leaves torch's own choice, `device` None takes CUDA when present.

    `silence_seconds` without a heartbeat is a worker that hangs; heartbeats come every `heartbeat_seconds`.
    """

    batch_rows: int
    threads: int | None = None
    device: str | None = None
    silence_seconds: float = 120.0
    heartbeat_seconds: float = 1.0

    def arguments(self) -> list[str]:
        """Arguments of the worker's program."""
        listed = ["--batch-rows", str(self.batch_rows), "--heartbeat-seconds", str(self.heartbeat_seconds)]
        if self.threads is not None:
            listed += ["--threads", str(self.threads)]
        if self.device is not None:
            listed += ["--device", self.device]
        return listed


class WorkerEngine:
    """Trains and samples on `student` in one worker process that writes to `log`. Usable from several threads."""

    def __init__(self, student: Path, log: Path, settings: WorkerSettings) -> None:
        self._student = student
        self._log = log
        self._settings = settings
        self._busy = threading.Lock()
        self._state = threading.Lock()
        self._process: WorkerProcess | None = None
        self._owner: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @property
    def student(self) -> Path:
        """The folder of the base student."""
        return self._student

    @property
    def pid(self) -> int | None:
        """The process that works or waits now, for status and tests."""
        with self._state:
            return self._process.pid if self._process is not None and self._process.alive else None

    def train(self, order: TrainOrder, on_progress: Callable[[TrainProgress], None]) -> TrainingResult:
        """Trains from the base student. Whatever `on_progress` raises ends the job and its process."""
        command = TrainCommand(
            student=self._student,
            rows=tuple(order.rows),
            recipe=order.recipe,
            config=order.config,
            seed=order.seed,
            out=order.out,
            state=order.state,
        )
        with contextlib.closing(self._ask(command)) as replies:
            for reply in replies:
                if isinstance(reply, Trained):
                    return reply.result
                if isinstance(reply, Progressed):
                    on_progress(reply.progress)
        raise InfrastructureFailure("the worker answered a training without a result", failure="worker_died")

    def sampler(self) -> WorkerSampler:
        """A sampler through this worker, opened on nothing yet."""
        return WorkerSampler(self._ask)

    def cancel(self) -> None:
        """Ends the running job from any thread: whoever waits for it gets InfrastructureFailure `cancelled`."""
        with self._state:
            if self._process is not None and self._busy.locked():
                self._process.kill(InfrastructureFailure("the job was cancelled", failure="cancelled", where="worker"))

    def close(self) -> None:
        """Ends the process. The next job would start another one."""
        with self._state:
            process, self._process = self._process, None
        if process is not None:
            process.kill(InfrastructureFailure("the worker was closed", failure="cancelled", where="worker"))
            process.close()

    def _ask(self, command: Message) -> Generator[Reply]:
        """One job: its replies up to the closing one. A job that is left before its end costs the process."""
        if self._owner == threading.get_ident():
            raise RuntimeError("this thread has a job of the worker open; end it before the next one")
        with self._busy:
            self._owner = threading.get_ident()
            process: WorkerProcess | None = None
            ended = False
            try:
                process = self._running()
                process.send(command)
                while not ended:
                    reply = process.receive(self._settings.silence_seconds)
                    if isinstance(reply, Failed):
                        ended = not reply.failure  # a process in which infrastructure failed is not used again
                        raise _error(reply)
                    ended = not isinstance(reply, Progressed | Completed)
                    yield reply
            finally:
                self._owner = None
                if process is not None and not ended:
                    self._drop(process)

    def _running(self) -> WorkerProcess:
        """The process, started if there is none or it has ended."""
        with self._state:
            if self._process is not None and not self._process.alive:
                self._process.close()
                self._process = None
            if self._process is None:
                self._process = WorkerProcess(self._settings.arguments(), self._log)
            return self._process

    def _drop(self, process: WorkerProcess) -> None:
        with self._state:
            if self._process is process:
                self._process = None
        process.close()


def _error(failed: Failed) -> RsibenchError:
    """What happened inside the worker, to be raised here."""
    kind = _RAISED_AGAIN.get(failed.error)
    if kind is not None:
        return kind(failed.what, where=failed.where, fix=failed.fix)
    failure = failed.failure or "worker_error"
    return InfrastructureFailure(failed.what, failure=failure, where=failed.where, fix=failed.fix)
