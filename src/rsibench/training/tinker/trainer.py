"""TinkerTrainer: the Trainer protocol at a Tinker service.

Weights are divided by their sum before they are sent, so that the service's sum is our token mean. Alpha, layers and
modules are the service's own. An exported adapter is a folder with `tinker.json`, which names the checkpoint to sample
from and the one to go on from; its digest is over that file. Its delta norm and size are not known: NaN and 0 say so.
"""

from __future__ import annotations

import json
import math
import os
import uuid
from collections.abc import Sequence
from pathlib import Path

import tinker
from tinker import types

from rsibench.errors import SpecError
from rsibench.ids import sha256_file
from rsibench.ports.trainer import AdamParams, AdapterFacts, LoraSpec, StepResult, TokenExample
from rsibench.tinker_api.connection import POINTER, Connection, Service, read_pointer

_ATTENTION = frozenset({"q_proj", "k_proj", "v_proj", "o_proj"})
_MLP = frozenset({"gate_proj", "up_proj", "down_proj"})


class TinkerTrainer:
    """One adapter at a time at `service`."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._connection: Connection | None = None
        self._client: tinker.TrainingClient | None = None

    def open(self, student: Path, lora: LoraSpec, seed: int) -> None:  # noqa: ARG002 - part of the protocol
        """A fresh adapter on the service's model; `student` is the same one here and is not read."""
        self.close()
        self._connection = Connection(self._service)
        targets = set(lora.targets)
        future = self._connection.client.create_lora_training_client(
            self._service.model,
            rank=lora.rank,
            seed=seed % 2**31,
            train_attn=bool(targets & _ATTENTION),
            train_mlp=bool(targets & _MLP),
            train_unembed=False,
        )
        self._client = self._connection.wait(future)

    def step(self, batch: Sequence[TokenExample], adam: AdamParams) -> StepResult:
        """One optimiser step on the token mean of `batch`. SpecError when nothing in it carries weight."""
        connection, client = self._opened()
        weight_sum = sum(sum(example.weights) for example in batch)
        if weight_sum <= 0:
            raise SpecError("a batch without any loss token cannot be trained on", where="training")
        forward = client.forward_backward([_datum(example, weight_sum) for example in batch], "cross_entropy")
        stepped = client.optim_step(types.AdamParams(**adam._asdict()))
        output = connection.wait(forward)
        connection.wait(stepped)
        loss_sum = -math.fsum(
            logprob * weight
            for row, example in zip(output.loss_fn_outputs, batch, strict=True)
            for logprob, weight in zip(row["logprobs"].data, example.weights, strict=True)
        )
        return StepResult(loss_sum, weight_sum)

    def save_state(self, path: Path) -> None:
        """Saves a checkpoint with the optimiser at the service and writes its name to `path`."""
        _write(path, {"state": self._saved()})

    def resume(self, path: Path) -> None:
        """Goes on from a checkpoint that `save_state` named."""
        connection, _ = self._opened()
        state = str(read_pointer(path)["state"])
        self._client = connection.wait(connection.client.create_training_client_from_state_with_optimizer(state))

    def export_sampler(self, path: Path) -> AdapterFacts:
        """Saves both kinds of checkpoints at the service and writes their names to the folder `path`."""
        connection, client = self._opened()
        state = self._saved()
        future = client.save_weights_for_sampler(uuid.uuid4().hex, ttl_seconds=self._service.ttl_seconds)
        pointer = {"model": self._service.model, "sampler": connection.wait(future).path, "state": state}
        path.mkdir(parents=True, exist_ok=True)
        _write(path / POINTER, pointer)
        return AdapterFacts(path, sha256_file(path / POINTER), math.nan, 0)

    def close(self) -> None:
        """Ends the session; harmless when nothing is open."""
        connection, self._connection, self._client = self._connection, None, None
        if connection is not None:
            connection.close()

    def _saved(self) -> str:
        connection, client = self._opened()
        future = client.save_state(uuid.uuid4().hex, ttl_seconds=self._service.ttl_seconds)
        return str(connection.wait(future).path)

    def _opened(self) -> tuple[Connection, tinker.TrainingClient]:
        if self._connection is None or self._client is None:
            raise SpecError("the trainer is not open", where="training", fix="call open first")
        return self._connection, self._client


def _datum(example: TokenExample, weight_sum: float) -> types.Datum:
    shape = [len(example.targets)]
    weights = [weight / weight_sum for weight in example.weights]
    return types.Datum(
        model_input=types.ModelInput.from_ints(list(example.inputs)),
        loss_fn_inputs={
            "target_tokens": types.TensorData(data=list(example.targets), dtype="int64", shape=shape),
            "weights": types.TensorData(data=weights, dtype="float32", shape=shape),
        },
    )


def _write(path: Path, content: dict[str, str]) -> None:
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(json.dumps(content, sort_keys=True), encoding="utf-8")
    os.replace(partial, path)
