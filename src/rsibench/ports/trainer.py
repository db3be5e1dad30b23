"""Trainer: one LoRA adapter on one student, stepped by the caller.

The SFT loop (order of batches, learning rates, token budget) lives above this protocol and is written once, so that a
local and a hosted trainer run the same recipe. Every attempt opens a fresh trainer on the base student.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class TokenExample(NamedTuple):
    """One training row, already shifted: `targets[i]` follows `inputs[i]`; `weights[i]` is 1.0 where loss counts."""

    inputs: tuple[int, ...]
    targets: tuple[int, ...]
    weights: tuple[float, ...]


class LoraSpec(NamedTuple):
    """Shape of the adapter. `top_layers` None means every layer; the unembedding is never trained."""

    rank: int
    alpha: int
    targets: tuple[str, ...]
    top_layers: int | None


class AdamParams(NamedTuple):
    """AdamW for one step, stated in full because services have other defaults."""

    learning_rate: float
    beta1: float
    beta2: float
    eps: float
    weight_decay: float


class StepResult(NamedTuple):
    """Result of one optimiser step. `loss_sum` is the unnormalised sum of weighted token losses, in nats."""

    loss_sum: float
    weight_sum: float


class AdapterFacts(NamedTuple):
    """An exported adapter. `sha256` is over its weight file, `delta_norm` the Frobenius norm of all scaled BA."""

    path: Path
    sha256: str
    delta_norm: float
    parameters: int


class Trainer(Protocol):
    """Opened once for one adapter; `step` normalises by the batch's weight sum, so that the loss is a token mean."""

    def open(self, student: Path, lora: LoraSpec, seed: int) -> None: ...

    def step(self, batch: Sequence[TokenExample], adam: AdamParams) -> StepResult: ...

    def save_state(self, path: Path) -> None: ...

    def resume(self, path: Path) -> None: ...

    def export_sampler(self, path: Path) -> AdapterFacts: ...

    def close(self) -> None: ...
