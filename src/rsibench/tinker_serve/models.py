"""Models in training: one local trainer each, in the order of their requests, few of them in memory at a time.

Invariant: the requests of a model take effect in the order of `seq_id`, from 1, whatever order they arrive in, and each
once, however often it is sent. A model that is idle gives up its memory to a file and comes back from it; one that has
a gradient waiting for its step never does. A restarted server knows no models, only checkpoints.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from rsibench.errors import SpecError
from rsibench.ports.trainer import AdamParams, LoraSpec, TokenExample
from rsibench.tinker_serve.jobs import Job, Jobs, Work
from rsibench.tinker_serve.served import ServedModel
from rsibench.training.local import LocalTrainer

MOST_BATCH_TOKENS = 16_384
"""Tokens, padding included, that one pass takes; a longer request is taken in parts, whose gradients add up."""


class Shape(NamedTuple):
    """A client's adapter."""

    served: ServedModel
    rank: int
    train_attn: bool
    train_mlp: bool
    seed: int

    def lora(self) -> LoraSpec:
        """The adapter's shape."""
        return self.served.lora(self.rank, attention=self.train_attn, mlp=self.train_mlp)


class Model:
    """A model's place in the order of its requests."""

    def __init__(self, model_id: str, shape: Shape, last_used: datetime) -> None:
        self.model_id = model_id
        self.shape = shape
        self.last_used = last_used
        self.next_seq = 1
        self.held: dict[int, Job] = {}


class Models:
    """At most `most_live` models in memory; the others wait in `parked`."""

    def __init__(self, jobs: Jobs, parked: Path, threads: int | None, most_live: int = 2) -> None:
        self._jobs = jobs
        self._parked = parked
        self._threads = threads
        self._most_live = most_live
        self._models: dict[str, Model] = {}
        self._live: OrderedDict[str, LocalTrainer] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, model: Model) -> None:
        """Takes up a new model; it loads with its first use."""
        with self._lock:
            self._models[model.model_id] = model

    def get(self, model_id: str) -> Model:
        """A model by id. SpecError when this server has none of it."""
        with self._lock:
            model = self._models.get(model_id)
        if model is None:
            raise SpecError(
                f"there is no model {model_id} on this server",
                where="model_id",
                fix="a restarted server knows only checkpoints; create the model from one",
            )
        return model

    def all(self) -> list[Model]:
        """Every model of this server."""
        with self._lock:
            return list(self._models.values())

    def submit(self, model: Model, seq_id: int | None, request_id: str, work: Work) -> None:
        """Queues `work` as soon as all requests before `seq_id` are queued; without a `seq_id` at once."""
        with self._lock:
            if not self._jobs.open(request_id):
                return
            if seq_id is None:
                self._jobs.submit(Job(request_id, work))
                return
            model.held[seq_id] = Job(request_id, work)
            while model.next_seq in model.held:
                self._jobs.submit(model.held.pop(model.next_seq))
                model.next_seq += 1

    def trainer(self, model: Model) -> LocalTrainer:
        """The model's trainer, in memory. Only for the thread that does the jobs."""
        live = self._live.get(model.model_id)
        if live is not None:
            self._live.move_to_end(model.model_id)
            return live
        self._make_room()
        trainer = LocalTrainer(threads=self._threads)
        trainer.open(model.shape.served.student, model.shape.lora(), model.shape.seed)
        parked = self._file(model.model_id)
        if parked.is_file():
            trainer.resume(parked)
            parked.unlink()
        self._live[model.model_id] = trainer
        return trainer

    def forget_session(self, session_id: str) -> None:
        """Drops the models of a session that has ended. Only for the thread that does the jobs."""
        with self._lock:
            gone = [name for name in self._models if name.startswith(f"{session_id}:")]
            for name in gone:
                del self._models[name]
        for name in gone:
            trainer = self._live.pop(name, None)
            if trainer is not None:
                trainer.close()
            self._file(name).unlink(missing_ok=True)

    def _make_room(self) -> None:
        """Parks the models longest unused; more than `most_live` stay only when all have a gradient waiting."""
        for name in list(self._live):
            if len(self._live) < self._most_live:
                return
            trainer = self._live[name]
            if not trainer.pending:
                self._parked.mkdir(parents=True, exist_ok=True)
                trainer.save_state(self._file(name))
                trainer.close()
                del self._live[name]

    def _file(self, model_id: str) -> Path:
        return self._parked / model_id.replace(":", "_")


def in_parts(
    examples: Sequence[TokenExample], do: Callable[[Sequence[TokenExample]], list[list[float]]]
) -> list[list[float]]:
    """`do` over `examples` in passes of at most MOST_BATCH_TOKENS, in order."""
    found: list[list[float]] = []
    part: list[TokenExample] = []
    for example in examples:
        longest = max(len(each.inputs) for each in [*part, example])
        if part and longest * (len(part) + 1) > MOST_BATCH_TOKENS:
            found += do(part)
            part = []
        part.append(example)
    return found + do(part) if part else found


def adam_of(body: dict[str, float]) -> tuple[AdamParams, float]:
    """AdamW's settings of an `optim_step`, and the norm to clip at (0 clips nothing)."""
    adam = AdamParams(
        learning_rate=float(body["learning_rate"]),
        beta1=float(body["beta1"]),
        beta2=float(body["beta2"]),
        eps=float(body["eps"]),
        weight_decay=float(body.get("weight_decay", 0.0)),
    )
    return adam, float(body.get("grad_clip_norm", 0.0))
