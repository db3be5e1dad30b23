"""Decoding a list of prompts: a batch that is topped up with new prompts as rows finish.

Invariant: every prompt is yielded exactly once, and its tokens do not depend on which other rows were in the batch
beyond floating-point noise. The order in which prompts enter is fixed by the prompts alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from rsibench.outcomes import FinishReason
from rsibench.ports.sampler import Completion, SampleParams
from rsibench.sampling.local.choice import choose, row_random
from rsibench.sampling.local.merged_student import MergedStudent
from rsibench.sampling.local.prefill import cache_argument, prefill, run_decoder
from rsibench.sampling.local.prefix import reading_order
from rsibench.sampling.local.slots import SlotCache

READ_TOKENS = 1024
"""Most tokens, padding included, that one pass over prompts reads."""


@dataclass(slots=True)
class _Row:
    """A prompt being answered."""

    index: int
    room: int
    draws: random.Random
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    stop: tuple[int, float] | None = None

    def take(self, token: int, logprob: float, stops: frozenset[int]) -> FinishReason | None:
        """Adds a token unless it is a stop; says why the row is finished, if it is."""
        if token in stops:
            self.stop = (token, logprob)
            return FinishReason.STOP
        self.tokens.append(token)
        self.logprobs.append(logprob)
        return FinishReason.LENGTH if len(self.tokens) >= self.room else None

    def completion(self, reason: FinishReason) -> Completion:
        stop_token, stop_logprob = self.stop if self.stop is not None else (None, None)
        return Completion(tuple(self.tokens), tuple(self.logprobs), reason, stop_token, stop_logprob)


class Decoding:
    """One call's work: `prompts` waiting in `order`, `rows` in the slots of `cache`."""

    def __init__(
        self, student: MergedStudent, prompts: Sequence[tuple[int, ...]], params: SampleParams, batch_rows: int
    ) -> None:
        self._student = student
        self._cache_name = cache_argument(student.decoder)
        self._prompts = prompts
        self._params = params
        self._stops = frozenset(params.stop_token_ids)
        self._waiting = reading_order(prompts)[::-1]
        longest = max(len(prompt) for prompt in prompts)
        capacity = min(longest + params.max_new_tokens, student.context_tokens)
        slots = min(batch_rows, len(prompts))
        self._cache = SlotCache(student.layers, slots, capacity, student.device)
        self._refill_at = max(1, slots // 4)
        self._rows: list[_Row] = []

    @torch.inference_mode()
    def run(self) -> Iterator[tuple[int, Completion]]:
        """Yields (prompt index, completion) as rows finish."""
        while self._waiting or self._rows:
            free = self._cache.slots - len(self._rows)
            if self._waiting and (free >= self._refill_at or not self._rows):
                finished = self._admit(self._readable(free))
            else:
                finished = self._advance()
            yield from finished

    def _readable(self, free: int) -> int:
        """How many waiting prompts one pass reads: at most `free`, and few enough to stay in the processor's caches."""
        count = 0
        for index in reversed(self._waiting[-free:]):
            if count and (count + 1) * len(self._prompts[index]) > READ_TOKENS:
                break
            count += 1
        return count

    def _admit(self, count: int) -> list[tuple[int, Completion]]:
        """Reads `count` waiting prompts and gives each its first token."""
        indices = [self._waiting.pop() for _ in range(count)]
        prompts = [self._prompts[index] for index in indices]
        filled = prefill(self._student, self._cache_name, prompts)
        self._cache.admit(filled.layers, [len(prompt) for prompt in prompts])
        first = len(self._rows)
        for index, prompt in zip(indices, prompts, strict=True):
            room = min(self._params.max_new_tokens, self._student.context_tokens - len(prompt))
            self._rows.append(_Row(index, room, row_random(self._params.seed, index)))
        return self._choose(filled.hidden, first)

    def _advance(self) -> list[tuple[int, Completion]]:
        """One more token for every live row."""
        ids = torch.tensor([[row.tokens[-1]] for row in self._rows], device=self._student.device)
        positions, mask = self._cache.step()
        hidden = run_decoder(self._student, self._cache_name, ids, positions, mask, self._cache)
        return self._choose(hidden[:, 0], 0)

    def _choose(self, hidden: Tensor, first: int) -> list[tuple[int, Completion]]:
        """Gives the rows from `first` on their next token; frees the slots of those that are finished."""
        logits = self._student.head(hidden)
        rows = self._rows[first:]
        chosen = choose(logits, self._params.temperature, [row.draws for row in rows])
        finished: list[tuple[int, Completion]] = []
        ended: list[int] = []
        for slot, row in enumerate(rows, start=first):
            reason = row.take(chosen.tokens[slot - first], chosen.logprobs[slot - first], self._stops)
            if reason is not None:
                finished.append((row.index, row.completion(reason)))
                ended.append(slot)
        for slot in reversed(ended):  # from the back, so that a mover is never itself finished
            self._rows[slot] = self._rows[self._cache.release(slot)]
            self._rows.pop()
        return finished
