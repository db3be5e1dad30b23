"""Sampling sessions: what each samples from, and answering prompts that wait together as one batch.

Invariant: one checkpoint is loaded at a time; prompts of a session with equal parameters share a pass. Settings that
the local sampler does not have (top-p, top-k but 1, stop strings) are refused, never ignored.
"""

from __future__ import annotations

import threading
import uuid
from typing import Any, NamedTuple

from rsibench.errors import SpecError
from rsibench.ports.sampler import Completion, SampleParams
from rsibench.sampling.local import LocalSampler
from rsibench.tinker_serve.checkpoints import Checkpoints
from rsibench.tinker_serve.jobs import Job, Jobs
from rsibench.tinker_serve.served import ServedModel
from rsibench.tinker_serve.wire import sample_output

_DEFAULT_MAX_TOKENS = 64


class Source(NamedTuple):
    """What a session samples from: a served model, or a checkpoint of one."""

    base_model: str
    path: str | None


class _Batch(NamedTuple):
    """What prompts must have in common to be answered together. Greedy ones have, whatever their seeds."""

    session: str
    params: SampleParams


class _Asked(NamedTuple):
    """One request."""

    prompt: tuple[int, ...]
    samples: int
    logprobs: bool


class Samplers:
    """All sessions, and the one sampler that is loaded."""

    def __init__(
        self, served: dict[str, ServedModel], checkpoints: Checkpoints, batch_rows: int, threads: int | None
    ) -> None:
        self._served = served
        self._checkpoints = checkpoints
        self._sampler = LocalSampler(batch_rows, threads=threads)
        self._loaded: Source | None = None
        self._sessions: dict[str, Source] = {}
        self._asked: dict[str, _Asked] = {}
        self._lock = threading.Lock()

    def open(self, base_model: str | None, path: str | None) -> str:
        """A new session. SpecError when there is nothing such to sample from."""
        if path is not None:
            meta, _ = self._checkpoints.find(path)
            if meta.kind != "sampler_weights":
                raise SpecError(f"{path} cannot be sampled from", where="model_path", fix="save weights for a sampler")
            source = Source(meta.base_model, path)
        elif base_model in self._served:
            source = Source(str(base_model), None)
        else:
            raise SpecError(f"model {base_model!r} is not served here", where="base_model", fix=", ".join(self._served))
        session = uuid.uuid4().hex
        with self._lock:
            self._sessions[session] = source
        return session

    def source(self, session: str) -> Source:
        """What a session samples from. SpecError for an unknown one."""
        with self._lock:
            source = self._sessions.get(session)
        if source is None:
            raise SpecError(f"there is no sampling session {session}", where="sampling_session_id", fix="open one")
        return source

    def submit(self, body: dict[str, Any], jobs: Jobs) -> tuple[str, int]:
        """Queues a request; returns its id and how many texts it will give."""
        session, samples = str(body.get("sampling_session_id")), int(body.get("num_samples") or 1)
        seq_id = body.get("seq_id")
        request_id = f"{session}:sample:{seq_id}" if seq_id is not None else uuid.uuid4().hex
        if not jobs.open(request_id):
            return request_id, samples
        try:
            params = self._params(body["sampling_params"], self._served[self.source(session).base_model])
            prompt = tuple(int(token) for chunk in body["prompt"]["chunks"] for token in chunk["tokens"])
        except (SpecError, KeyError, TypeError) as error:
            jobs.fail(request_id, error if isinstance(error, SpecError) else SpecError(f"not understood: {error!r}"))
            return request_id, samples
        with self._lock:
            self._asked[request_id] = _Asked(prompt, samples, bool(body.get("prompt_logprobs")))
        jobs.submit(Job(request_id, dict, _Batch(session, params)))
        return request_id, samples

    def answer(self, batch: object, request_ids: list[str], jobs: Jobs) -> None:
        """Answers requests that wait together; one that cannot be answered fails alone."""
        if not isinstance(batch, _Batch):
            raise TypeError(f"{batch!r} is no sampling")
        with self._lock:
            asked = {name: self._asked.pop(name) for name in request_ids}
        sampler = self._open(self.source(batch.session))
        good: list[str] = []
        scored: dict[str, list[float] | None] = {}
        for name in request_ids:
            try:
                sampler.sample([asked[name].prompt], batch.params)  # checks at once, reads nothing before it is asked
                scored[name] = sampler.prompt_logprobs(asked[name].prompt) if asked[name].logprobs else None
            except SpecError as error:
                jobs.fail(name, error)
            else:
                good.append(name)
        owners = [name for name in good for _ in range(asked[name].samples)]
        texts: dict[str, list[Completion]] = {name: [] for name in good}
        for index, completion in sampler.sample([asked[name].prompt for name in owners], batch.params):
            name = owners[index]
            texts[name].append(completion)
            if len(texts[name]) == asked[name].samples:
                jobs.finish(name, sample_output(texts[name], scored[name]))

    def _open(self, source: Source) -> LocalSampler:
        if self._loaded != source:
            adapter = self._checkpoints.find(source.path)[1] if source.path is not None else None
            self._loaded = None
            self._sampler.open(self._served[source.base_model].student, adapter)
            self._loaded = source
        return self._sampler

    def _params(self, asked: dict[str, Any], model: ServedModel) -> SampleParams:
        """A request's parameters as the local sampler has them."""
        stop, top_k = asked.get("stop"), int(asked.get("top_k", -1))
        temperature = 0.0 if top_k == 1 else float(asked.get("temperature", 1.0))
        if top_k > 1 or float(asked.get("top_p", 1.0)) != 1.0:
            raise SpecError("top_k other than 1 and top_p are not served", where="sampling_params")
        if isinstance(stop, str) or (stop is not None and not all(isinstance(token, int) for token in stop)):
            raise SpecError("stop strings are not served", where="sampling_params.stop", fix="name token ids")
        stops = model.end_tokens() if stop is None else tuple(stop)
        seed = int(asked.get("seed") or 0) if temperature > 0 else 0
        return SampleParams(int(asked.get("max_tokens") or _DEFAULT_MAX_TOKENS), temperature, stops, seed)
