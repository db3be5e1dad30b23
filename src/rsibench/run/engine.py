"""Engine: what trains and samples for a run. The local one is a process of its own; tests use one in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from rsibench.ports.sampler import Sampler
from rsibench.rendering import RenderedRow
from rsibench.spec.recipe import Recipe, RunConfig
from rsibench.training.result import TrainingResult, TrainProgress


class TrainOrder(NamedTuple):
    """One training: always from the base student, into a new folder `out`.

    `state` is the folder in which the engine may keep what a killed training goes on from; None keeps nothing.
    """

    rows: Sequence[RenderedRow]
    recipe: Recipe
    config: RunConfig
    seed: int
    out: Path
    state: Path | None = None


class Engine(Protocol):
    """Trains one order at a time and samples through one sampler. Failures are InfrastructureFailure."""

    @property
    def student(self) -> Path:
        """The folder of the base student."""
        ...

    def train(self, order: TrainOrder, on_progress: Callable[[TrainProgress], None]) -> TrainingResult: ...

    def sampler(self) -> Sampler: ...

    def cancel(self) -> None:
        """Ends what is running, from another thread; the caller there gets an InfrastructureFailure."""
        ...

    def close(self) -> None: ...
