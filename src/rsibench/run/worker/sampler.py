"""WorkerSampler: the Sampler protocol through a worker process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

from rsibench.errors import SpecError
from rsibench.ports.sampler import Completion, SampleParams
from rsibench.run.worker.messages import Completed, Message, OpenCommand, Opened, Reply, SampleCommand, Sampled

type Ask = Callable[[Message], Generator[Reply]]
"""Sends a command and yields its replies up to and including the closing one; raises what the worker failed with."""


class WorkerSampler:
    """It remembers what it is open on, so a worker that was restarted or has trained meanwhile makes no difference."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._student: Path | None = None
        self._adapter: Path | None = None

    def open(self, student: Path, adapter: Path | None) -> None:
        """Loads the checkpoint, so that a broken one is known now."""
        self.close()
        with contextlib.closing(self._ask(OpenCommand(student=student, adapter=adapter))) as replies:
            for reply in replies:
                if not isinstance(reply, Opened):
                    raise TypeError(f"the worker answered an opening with {reply.kind}")
        self._student, self._adapter = student, adapter

    def sample(self, prompts: Sequence[tuple[int, ...]], params: SampleParams) -> Iterator[tuple[int, Completion]]:
        """Yields (prompt index, completion) as they finish; leaving off in the middle ends the worker's process."""
        if self._student is None:
            raise SpecError("the sampler is not open", where="sampling", fix="call open first")
        command = SampleCommand(student=self._student, adapter=self._adapter, prompts=tuple(prompts), params=params)
        return self._completions(command)

    def close(self) -> None:
        """Forgets the checkpoint. The worker lets go of it when it opens another one, trains or ends."""
        self._student = self._adapter = None

    def _completions(self, command: SampleCommand) -> Iterator[tuple[int, Completion]]:
        with contextlib.closing(self._ask(command)) as replies:
            for reply in replies:
                if isinstance(reply, Completed):
                    yield reply.index, reply.completion
                elif not isinstance(reply, Sampled):
                    raise TypeError(f"the worker answered prompts with {reply.kind}")
