"""Sampler: token prompts in, tokens out, from the base student or one adapter on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from rsibench.outcomes import FinishReason


class SampleParams(NamedTuple):
    """Decoding, in full. Temperature 0 is greedy and needs no seed."""

    max_new_tokens: int
    temperature: float
    stop_token_ids: tuple[int, ...]
    seed: int = 0


class Completion(NamedTuple):
    """One completion: token ids without the stop token, and the log-probability of each in nats.

    `stop_token` and `stop_logprob` are of the token that ended it, where the sampler knows it.
    """

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: FinishReason
    stop_token: int | None = None
    stop_logprob: float | None = None


class Sampler(Protocol):
    """Opened on a student and optionally one adapter. `sample` yields (prompt index, completion) as they finish."""

    def open(self, student: Path, adapter: Path | None) -> None: ...

    def sample(self, prompts: Sequence[tuple[int, ...]], params: SampleParams) -> Iterator[tuple[int, Completion]]: ...

    def close(self) -> None: ...
