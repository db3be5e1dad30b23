"""What a killed training goes on from: a folder with the trainer's state and how far the loop had come.

Invariant: `progress.json` is replaced last and names a whole state file by digest, so a kill at any instant leaves the
newest complete state. A state is taken up only under the digest of the training it was written for; any other, and a
damaged one, is left aside with a note, and the training starts at its first step, which gives the same adapter. It is
not a checkpoint to sample from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError

from rsibench.ids import sha256_bytes, sha256_file
from rsibench.ports.trainer import Trainer
from rsibench.rendering.renderer import RenderedRow
from rsibench.spec.frozen import Frozen
from rsibench.spec.recipe import Recipe, RunConfig

SAVE_EVERY_STEPS = 20
"""Steps between two states. It decides only how much a kill costs: results do not depend on it."""

_PROGRESS = "progress.json"
_STATE_PREFIX = "trainer-"


class StateFolder(NamedTuple):
    """Where to keep a training, and after how many steps each time."""

    path: Path
    every_steps: int = SAVE_EVERY_STEPS


class _Progress(Frozen):
    """The file `progress.json`. `steps` are done; their losses are token means in nats."""

    version: int = 1
    training: str
    steps: int = Field(ge=1)
    losses: tuple[float, ...]
    loss_tokens: int
    state: str
    state_sha256: str


class TakenUp(NamedTuple):
    """Where a training starts: `steps` are done already. `note` says why a state that was found was not used."""

    steps: int = 0
    losses: tuple[float, ...] = ()
    loss_tokens: int = 0
    note: str = ""


def training_digest(
    trainer: Trainer, student: Path, rows: Sequence[RenderedRow], recipe: Recipe, config: RunConfig, seed: int
) -> str:
    """SHA-256 over all that a training's adapter depends on: student files, rows, recipe, configuration, seed."""
    files = sorted(path for path in student.iterdir() if path.is_file()) if student.is_dir() else []
    parts = {
        "trainer": type(trainer).__name__,
        "student": {path.name: sha256_file(path) for path in files},
        "rows": [[list(row.token_ids), [int(counts) for counts in row.loss_mask]] for row in rows],
        "recipe": recipe.model_dump(mode="json"),
        "config": config.model_dump(mode="json"),
        "seed": seed,
    }
    return sha256_bytes(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode())


class KeptState:
    """The folder's content as the state of the training with the digest `training`."""

    def __init__(self, folder: StateFolder, training: str) -> None:
        self._folder, self._every_steps = folder
        self._training = training

    def due(self, steps: int) -> bool:
        """Whether the state is to be saved after `steps` steps."""
        return steps % self._every_steps == 0

    def take_up(self, trainer: Trainer, most_steps: int) -> TakenUp:
        """Puts the opened `trainer` where the kept state was, if there is one of this training, whole."""
        try:
            text = (self._folder / _PROGRESS).read_bytes()
        except FileNotFoundError:
            return TakenUp()
        try:
            progress = _Progress.model_validate_json(text)
        except ValidationError:
            return TakenUp(note="a kept state could not be read; training started at its first step")
        if progress.training != self._training:
            return TakenUp(note="a kept state was of another training; this one started at its first step")
        state = self._folder / progress.state
        counted = progress.steps == len(progress.losses) and progress.steps <= most_steps
        if not counted or not state.is_file() or sha256_file(state) != progress.state_sha256:
            return TakenUp(note="a kept state was damaged; training started at its first step")
        trainer.resume(state)
        return TakenUp(progress.steps, progress.losses, progress.loss_tokens)

    def save(self, trainer: Trainer, losses: Sequence[float], loss_tokens: int) -> None:
        """Keeps the trainer's state after `len(losses)` steps in place of the one before."""
        self._folder.mkdir(parents=True, exist_ok=True)
        state = self._folder / f"{_STATE_PREFIX}{len(losses):06d}"
        trainer.save_state(state)
        progress = _Progress(
            training=self._training,
            steps=len(losses),
            losses=tuple(losses),
            loss_tokens=loss_tokens,
            state=state.name,
            state_sha256=sha256_file(state),
        )
        _replace(self._folder / _PROGRESS, progress.model_dump_json().encode())
        for other in self._folder.glob(f"*{_STATE_PREFIX}*"):
            if other != state:
                other.unlink()


def _replace(path: Path, data: bytes) -> None:
    """Writes `data` to `path`, whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(partial, path)
