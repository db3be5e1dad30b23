"""Inside the worker: carries out one command at a time on one trainer and one sampler.

Invariant: every command ends in exactly one closing reply. Trainer and sampler are never in memory together: a training
lets go of the sampler first, and the next sampling loads it again. Heavy libraries load with the first command.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rsibench.errors import InfrastructureFailure, RsibenchError
from rsibench.ids import sha256_file
from rsibench.run.worker.memory import give_back
from rsibench.run.worker.messages import (
    Command,
    Completed,
    Failed,
    Message,
    OpenCommand,
    Opened,
    Progressed,
    SampleCommand,
    Sampled,
    TrainCommand,
    Trained,
)
from rsibench.training.kept import StateFolder
from rsibench.training.loop import train

if TYPE_CHECKING:
    from rsibench.sampling.local import LocalSampler

_OUT_OF_MEMORY_MARKS = ("out of memory", "can't allocate memory")
"""How torch says it, on a CPU as a plain RuntimeError."""


class _Checkpoint(NamedTuple):
    """What a sampler is open on; `adapter_digest` tells files apart that were exchanged under the same name."""

    student: Path
    adapter: Path | None
    adapter_digest: str


class Host:
    """One command after another, on one thread. `send` takes the replies."""

    def __init__(
        self, send: Callable[[Message], None], batch_rows: int, device: str | None, threads: int | None
    ) -> None:
        self._send = send
        self._batch_rows = batch_rows
        self._device = device
        self._threads = threads
        self._sampler: LocalSampler | None = None
        self._open_on: _Checkpoint | None = None

    def serve(self, command: Command) -> None:
        """Carries out `command`; whatever goes wrong becomes a `Failed`, with the traceback in the log."""
        try:
            if isinstance(command, TrainCommand):
                self._train(command)
            elif isinstance(command, OpenCommand):
                self._open(command.student, command.adapter)
                self._send(Opened())
            else:
                self._sample(command)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            sys.stderr.flush()
            self._send(as_failed(error))

    def _train(self, command: TrainCommand) -> None:
        from rsibench.training.local import LocalTrainer  # noqa: PLC0415 - torch loads when it is needed

        self._close()
        result = train(
            LocalTrainer(self._device, self._threads),
            command.student,
            command.rows,
            command.recipe,
            command.config,
            command.seed,
            command.out,
            on_progress=lambda progress: self._send(Progressed(progress=progress)),
            state=StateFolder(command.state) if command.state is not None else None,
        )
        give_back()
        self._send(Trained(result=result))

    def _sample(self, command: SampleCommand) -> None:
        sampler = self._open(command.student, command.adapter)
        for index, completion in sampler.sample(command.prompts, command.params):
            self._send(Completed(index=index, completion=completion))
        self._send(Sampled())

    def _open(self, student: Path, adapter: Path | None) -> LocalSampler:
        """The sampler on this checkpoint, loaded unless it is the one that is open."""
        from rsibench.sampling.local import LocalSampler  # noqa: PLC0415 - torch loads when it is needed

        wanted = _Checkpoint(student, adapter, _digest(adapter))
        if self._sampler is None or self._open_on != wanted:
            self._close()
            self._sampler = LocalSampler(self._batch_rows, self._device, self._threads)
            self._sampler.open(student, adapter)
            self._open_on = wanted
        return self._sampler

    def _close(self) -> None:
        if self._sampler is not None:
            self._sampler.close()
            self._sampler = self._open_on = None
            give_back()


def as_failed(error: Exception) -> Failed:
    """`error` as a reply that the controller can raise again."""
    if isinstance(error, InfrastructureFailure):
        return Failed(
            error="InfrastructureFailure", what=error.what, where=error.where, fix=error.fix, failure=error.failure
        )
    if isinstance(error, RsibenchError):
        return Failed(error=type(error).__name__, what=error.what, where=error.where, fix=error.fix)
    text = f"{type(error).__name__}: {error}"
    out_of_memory = isinstance(error, MemoryError) or any(mark in text.lower() for mark in _OUT_OF_MEMORY_MARKS)
    return Failed(
        error="InfrastructureFailure",
        what=text,
        where="worker",
        fix="free memory or lower recipe.batch_tokens or decoding.batch_rows" if out_of_memory else "see the log",
        failure="out_of_memory" if out_of_memory else "worker_error",
    )


def _digest(adapter: Path | None) -> str:
    """Digest of the adapter's weight files, so that a changed adapter is never taken for the open one."""
    if adapter is None:
        return ""
    return " ".join(sha256_file(file) for file in sorted(adapter.glob("*.safetensors")))
