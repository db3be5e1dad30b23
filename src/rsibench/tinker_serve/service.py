"""What the server does, apart from HTTP: sessions, models, checkpoints and samplers on one trainer thread.

Invariant: whatever is wrong with a request about a model or a sample comes back through its future, so the request uses
up its `seq_id` and those behind it go on. It is not a scheduler of several machines: everything shares this one.
"""

from __future__ import annotations

import secrets
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tinker.proto import tinker_public_pb2 as pb

from rsibench.errors import SpecError
from rsibench.ports.clock import Clock
from rsibench.tinker_serve.checkpoints import CheckpointMeta, Checkpoints
from rsibench.tinker_serve.jobs import Answer, Job, Jobs
from rsibench.tinker_serve.models import Model, Models, Shape, adam_of, in_parts
from rsibench.tinker_serve.samplers import Samplers
from rsibench.tinker_serve.served import ServedModel
from rsibench.tinker_serve.wire import examples_of, forward_output

_STATE = "state.pt"
_SEED_BITS = 31


class Settings(NamedTuple):
    """`root` holds the checkpoints. `most_live` models stay in memory; `batch_rows` prompts are answered together."""

    root: Path
    threads: int | None = None
    most_live: int = 2
    batch_rows: int = 32


class Service:
    """One server's state. `close` ends its thread."""

    def __init__(self, models: tuple[ServedModel, ...], settings: Settings, clock: Clock) -> None:
        self.served = {model.name: model for model in models}
        self._clock = clock
        parked = settings.root / ".parked"
        shutil.rmtree(parked, ignore_errors=True)  # of a server that was killed: its models are gone
        self.checkpoints = Checkpoints(settings.root, clock)
        self.samplers = Samplers(self.served, self.checkpoints, settings.batch_rows, settings.threads)
        self.jobs = Jobs(lambda batch, ids: self.samplers.answer(batch, ids, self.jobs))
        self.models = Models(self.jobs, parked, settings.threads, settings.most_live)

    def close(self) -> None:
        """Ends the thread and lets go of the models."""
        self.jobs.close()

    def model_named(self, name: str) -> ServedModel:
        """A served model. SpecError for another name."""
        if name not in self.served:
            raise SpecError(f"model {name!r} is not served here", where="base_model", fix=", ".join(self.served))
        return self.served[name]

    def detached(self, work: Callable[[], Answer], request_id: str | None = None) -> str:
        """Queues work that belongs to no order; returns its id."""
        name = request_id or uuid.uuid4().hex
        if self.jobs.open(name):
            self.jobs.submit(Job(name, work))
        return name

    def create_model(self, body: dict[str, Any]) -> str:
        """A fresh adapter."""
        model_id = f"{body['session_id']}:train:{body['model_seq_id']}"

        def work() -> Answer:
            lora = body["lora_config"]
            if lora.get("train_unembed", True):
                raise SpecError("the unembedding is not trained here", where="lora_config", fix="train_unembed=False")
            if (body.get("optimizer_config") or {"type": "adamw"})["type"] not in ("adam", "adamw"):
                raise SpecError("only AdamW is served", where="optimizer_config")
            shape = self._shape(body["base_model"], lora)
            shape.lora()
            model = Model(model_id, shape, self._clock.now())
            self.models.add(model)
            self.models.trainer(model)
            return {"type": "create_model", "model_id": model_id}

        return self.detached(work, f"create:{model_id}")

    def create_from_state(self, body: dict[str, Any]) -> str:
        """A model that goes on from a checkpoint, with or without the optimiser's state."""
        model_id = f"{body['session_id']}:train:{body['model_seq_id']}"

        def work() -> Answer:
            meta, folder = self.checkpoints.find(body["path"])
            _check_kind(meta, "weights")
            lora = {"rank": meta.rank, "train_attn": meta.train_attn, "train_mlp": meta.train_mlp, "seed": 0}
            model = Model(model_id, self._shape(body.get("base_model") or meta.base_model, lora), self._clock.now())
            self.models.add(model)
            self.models.trainer(model).resume(folder / _STATE, optimizer=body["optimizer"])
            return {"type": "load_weights", "model_id": model_id, "path": body["path"]}

        return self.detached(work, f"create:{model_id}")

    def forward_backward(self, request: pb.ForwardBackwardRequest) -> str:
        """Log-probabilities and, unless it is forward only, gradients."""

        def work(model: Model) -> Answer:
            trainer = self.models.trainer(model)
            examples = examples_of(request, trainer.vocabulary, model.shape.served.context_tokens())
            done = in_parts(examples, trainer.score if request.forward_only else trainer.accumulate)
            return forward_output(examples, done)

        return self._ordered(request.model_id, request.seq_id, work)

    def optim_step(self, body: dict[str, Any]) -> str:
        """A step of AdamW."""

        def work(model: Model) -> Answer:
            if "adam_params" not in body:
                raise SpecError("only AdamW is served", where="optimizer_params")
            adam, clip_norm = adam_of(body["adam_params"])
            self.models.trainer(model).apply(adam, clip_norm)
            return {"type": "optim_step", "metrics": {}}

        return self._ordered(body["model_id"], body.get("seq_id"), work)

    def save(self, body: dict[str, Any], kind: str) -> str:
        """A checkpoint: `weights` to go on from, `sampler_weights` to sample from."""

        def work(model: Model) -> Answer:
            path = f"tinker://{model.model_id}/{kind}/{body.get('path') or uuid.uuid4().hex[:12]}"
            shape, trainer = model.shape, self.models.trainer(model)
            if kind == "weights" and trainer.pending:
                raise SpecError("there is a gradient that no step has used; a state would lose it", where="save_state")
            meta = CheckpointMeta(
                path=path,
                base_model=shape.served.name,
                rank=shape.rank,
                train_attn=shape.train_attn,
                train_mlp=shape.train_mlp,
                created_at=self._clock.now(),
                expires_at=self.checkpoints.expiry(body.get("ttl_seconds")),
                user_metadata=body.get("user_metadata"),
            )

            def fill(folder: Path) -> None:
                if kind == "weights":
                    trainer.save_state(folder / _STATE)
                else:
                    trainer.export_sampler(folder)

            self.checkpoints.write(meta, fill, overwrite=bool(body.get("overwrite")))
            if kind == "weights":
                return {"type": "save_weights", "path": path}
            if body.get("path"):
                return {"type": "save_weights_for_sampler", "path": path}
            session = self.samplers.open(None, path)
            return {"type": "save_weights_for_sampler", "path": None, "sampling_session_id": session}

        return self._ordered(body["model_id"], body.get("seq_id"), work)

    def load(self, body: dict[str, Any]) -> str:
        """A checkpoint into a model that exists."""

        def work(model: Model) -> Answer:
            meta, folder = self.checkpoints.find(body["path"])
            _check_kind(meta, "weights")
            self.models.trainer(model).resume(folder / _STATE, optimizer=body["optimizer"])
            return {"type": "load_weights", "model_id": model.model_id, "path": body["path"]}

        return self._ordered(body["model_id"], body.get("seq_id"), work)

    def finish_session(self, session_id: str) -> None:
        """Drops a session's models once all that was asked of them is done."""

        def work() -> Answer:
            self.models.forget_session(session_id)
            return {}

        self.detached(work)

    def _ordered(self, model_id: str, seq_id: int | None, work: Callable[[Model], Answer]) -> str:
        """Queues work on a model in its order."""
        request_id = f"{model_id}:{seq_id}" if seq_id is not None else uuid.uuid4().hex
        try:
            model = self.models.get(model_id)
        except SpecError as error:
            if self.jobs.open(request_id):
                self.jobs.fail(request_id, error)
            return request_id
        model.last_used = self._clock.now()
        self.models.submit(model, seq_id, request_id, lambda: work(model))
        return request_id

    def _shape(self, base_model: str, lora: dict[str, Any]) -> Shape:
        seed = lora.get("seed")
        return Shape(
            self.model_named(base_model),
            int(lora["rank"]),
            bool(lora.get("train_attn", True)),
            bool(lora.get("train_mlp", True)),
            int(seed) if seed is not None else secrets.randbits(_SEED_BITS),
        )


def _check_kind(meta: CheckpointMeta, kind: str) -> None:
    if meta.kind != kind:
        raise SpecError(f"{meta.path} cannot be trained on", where="path", fix=f"use a {kind} checkpoint")
