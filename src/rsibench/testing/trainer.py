"""FakeTrainer: a trainer that really learns, without any machine-learning library: counts of which token follows which.

It keeps the Trainer protocol to the letter and is deterministic: the same shape, seed and steps give the same adapter
bytes. The learning rate scales what a step adds, so that a loop that drives it wrongly shows. It is not a student.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rsibench.errors import SpecError
from rsibench.ids import derived_seed, sha256_file
from rsibench.ports.trainer import AdamParams, AdapterFacts, LoraSpec, StepResult, TokenExample

WEIGHTS = "adapter_model.safetensors"
"""The name that a real adapter's weights have, so that whoever reads adapters by name finds this one."""
_SMOOTHING = 0.01
_WORDS = 512
_JITTER = 1e-6


class _State(NamedTuple):
    """An open adapter: `counts` of (token, next token), written as text to be plain JSON."""

    lora: LoraSpec
    counts: dict[str, float]
    jitter: float


class FakeTrainer:
    """`calls` lists what was asked, in order; `steps` every batch with its settings."""

    def __init__(self) -> None:
        self._state: _State | None = None
        self.student: Path | None = None
        self.calls: list[str] = []
        self.steps: list[tuple[tuple[TokenExample, ...], AdamParams]] = []

    def open(self, student: Path, lora: LoraSpec, seed: int) -> None:
        """Starts from nothing; the seed moves every count a little. `student` is only remembered."""
        self.student = student
        self.calls.append("open")
        self._state = _State(lora, {}, _JITTER * (derived_seed("fake-trainer", seed) % 1000))

    def step(self, batch: Sequence[TokenExample], adam: AdamParams) -> StepResult:
        """Scores the batch with the counts so far, then adds it to them. SpecError when nothing carries weight."""
        self.calls.append("step")
        state = self._opened()
        self.steps.append((tuple(batch), adam))
        pairs = [
            (f"{token} {target}", weight)
            for example in batch
            for token, target, weight in zip(example.inputs, example.targets, example.weights, strict=True)
            if weight
        ]
        weight_sum = sum(weight for _, weight in pairs)
        if weight_sum <= 0:
            raise SpecError("a batch without any loss token cannot be trained on", where="training")
        loss_sum = sum(weight * self._loss(pair) for pair, weight in pairs)
        for pair, weight in pairs:
            added = adam.learning_rate * weight / weight_sum + state.jitter
            state.counts[pair] = state.counts.get(pair, 0.0) + added
        return StepResult(loss_sum, weight_sum)

    def save_state(self, path: Path) -> None:
        """Writes the counts to one file, whole or not at all."""
        self.calls.append("save_state")
        state = self._opened()
        partial = path.with_name(f".{path.name}.partial")
        saved = {"lora": list(state.lora), "counts": state.counts, "jitter": state.jitter}
        partial.write_text(json.dumps(saved), encoding="utf-8")
        os.replace(partial, path)

    def resume(self, path: Path) -> None:
        """Takes up the counts of a saved state of the same shape; SpecError for another one."""
        self.calls.append("resume")
        state = self._opened()
        saved = json.loads(path.read_text(encoding="utf-8"))
        if saved["lora"] != json.loads(json.dumps(list(state.lora))):
            raise SpecError("the saved state is of another adapter shape", where=str(path), fix="open with that shape")
        self._state = _State(state.lora, saved["counts"], saved["jitter"])

    def export_sampler(self, path: Path) -> AdapterFacts:
        """Writes the counts to the folder `path`, sorted."""
        self.calls.append("export_sampler")
        counts = self._opened().counts
        path.mkdir(parents=True, exist_ok=True)
        (path / WEIGHTS).write_text(json.dumps(counts, sort_keys=True), encoding="utf-8")
        norm = math.sqrt(math.fsum(count * count for count in counts.values()))
        return AdapterFacts(path, sha256_file(path / WEIGHTS), norm, len(counts))

    def close(self) -> None:
        """Forgets the adapter; harmless when nothing is open."""
        self.calls.append("close")
        self._state = None

    def _loss(self, pair: str) -> float:
        """Minus the log-probability of a pair's second token after its first, smoothed over a fixed vocabulary."""
        counts = self._opened().counts
        first = pair.split(" ", 1)[0] + " "
        total = math.fsum(count for other, count in counts.items() if other.startswith(first))
        return -math.log((counts.get(pair, 0.0) + _SMOOTHING) / (total + _SMOOTHING * _WORDS))

    def _opened(self) -> _State:
        if self._state is None:
            raise SpecError("the trainer is not open", where="training", fix="call open first")
        return self._state
