"""What controller and worker say to each other: one JSON object a line, commands in, replies out.

Invariant: every command is answered by zero or more running replies and exactly one closing reply, which is `Failed` or
the command's own kind of success. Heartbeats come in between at any time. Nothing here imports a heavy library.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from rsibench.ports.sampler import Completion, SampleParams
from rsibench.rendering.renderer import RenderedRow
from rsibench.spec.recipe import Recipe, RunConfig
from rsibench.training.result import TrainingResult, TrainProgress


class Message(BaseModel):
    """Base of both directions. NaN crosses unharmed: a diverged student has such log-probabilities."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")

    def line(self) -> bytes:
        """The message as one line."""
        return self.model_dump_json().encode() + b"\n"


class TrainCommand(Message):
    """Train a fresh adapter; answered by `Progressed`s and `Trained`."""

    kind: Literal["train"] = "train"
    student: Path
    rows: tuple[RenderedRow, ...]
    recipe: Recipe
    config: RunConfig
    seed: int
    out: Path
    state: Path | None = None


class OpenCommand(Message):
    """Make the sampler ready on a student and adapter; answered by `Opened`."""

    kind: Literal["open"] = "open"
    student: Path
    adapter: Path | None


class SampleCommand(Message):
    """Answer prompts, opening the checkpoint if need be; answered by a `Completed` for each and `Sampled`."""

    kind: Literal["sample"] = "sample"
    student: Path
    adapter: Path | None
    prompts: tuple[tuple[int, ...], ...]
    params: SampleParams


class Heartbeat(Message):
    """The worker is alive, whatever it is busy with."""

    kind: Literal["heartbeat"] = "heartbeat"


class Progressed(Message):
    """A training step is done."""

    kind: Literal["progressed"] = "progressed"
    progress: TrainProgress


class Trained(Message):
    """The adapter is written."""

    kind: Literal["trained"] = "trained"
    result: TrainingResult


class Opened(Message):
    """The sampler is ready."""

    kind: Literal["opened"] = "opened"


class Completed(Message):
    """One prompt is answered."""

    kind: Literal["completed"] = "completed"
    index: int
    completion: Completion


class Sampled(Message):
    """All prompts are answered."""

    kind: Literal["sampled"] = "sampled"


class Failed(Message):
    """The command failed. `error` is the name of a class of the exception tree; `failure` is set for infrastructure."""

    kind: Literal["failed"] = "failed"
    error: str
    what: str
    where: str = ""
    fix: str = ""
    failure: str = ""


Command = Annotated[TrainCommand | OpenCommand | SampleCommand, Field(discriminator="kind")]
Reply = Annotated[Heartbeat | Progressed | Trained | Opened | Completed | Sampled | Failed, Field(discriminator="kind")]

COMMAND: TypeAdapter[Command] = TypeAdapter(Command)
REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)
