"""LocalSampler: the Sampler protocol on this machine.

fp32 on a CPU, bf16 on a CUDA device when there is one. Invariant: same student, adapter, prompts, parameters,
`batch_rows`, thread count and machine kind give the same completions, whatever was sampled before.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from rsibench.errors import SpecError
from rsibench.ports.sampler import Completion, SampleParams
from rsibench.sampling.local.decode import Decoding
from rsibench.sampling.local.merged_student import MergedStudent, load_merged


class LocalSampler:
    """At most `batch_rows` prompts at a time. `device` None takes CUDA if present; `threads` None is torch's choice."""

    def __init__(self, batch_rows: int, device: str | None = None, threads: int | None = None) -> None:
        if batch_rows < 1:
            raise SpecError(f"batch_rows is {batch_rows}", where="decoding.batch_rows", fix="use at least 1")
        self._batch_rows = batch_rows
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._threads = threads
        self._student: MergedStudent | None = None

    def open(self, student: Path, adapter: Path | None) -> None:
        """Loads the student, merged with `adapter` if there is one; whatever was open before is dropped first."""
        self.close()
        if self._threads is not None:
            torch.set_num_threads(self._threads)
        self._student = load_merged(student, adapter, self._device)

    def sample(self, prompts: Sequence[tuple[int, ...]], params: SampleParams) -> Iterator[tuple[int, Completion]]:
        """Yields (prompt index, completion) as they finish. SpecError at once when a prompt cannot be answered."""
        if self._student is None:
            raise SpecError("the sampler is not open", where="sampling", fix="call open first")
        _check(prompts, params, self._student)
        if not prompts:
            return iter(())
        return Decoding(self._student, prompts, params, self._batch_rows).run()

    @torch.inference_mode()
    def prompt_logprobs(self, prompt: tuple[int, ...]) -> list[float]:
        """Log-probability in nats of every token of `prompt` but the first, which has nothing before it."""
        if self._student is None:
            raise SpecError("the sampler is not open", where="sampling", fix="call open first")
        _check([prompt], SampleParams(1, 0.0, ()), self._student)
        ids = torch.tensor([prompt], device=self._student.device)
        hidden = self._student.decoder(input_ids=ids[:, :-1], use_cache=False).last_hidden_state
        scores = torch.log_softmax(self._student.head(hidden[0]).float(), dim=1)  # (tokens - 1, vocabulary)
        found: list[float] = scores.gather(1, ids[0, 1:].unsqueeze(1)).squeeze(1).tolist()
        return found

    def close(self) -> None:
        """Lets go of the model; harmless when nothing is open."""
        if self._student is not None:
            self._student = None
            gc.collect()  # models refer to themselves, so their memory would otherwise stay for a while


def _check(prompts: Sequence[tuple[int, ...]], params: SampleParams, student: MergedStudent) -> None:
    """SpecError for the first prompt or parameter that cannot work."""
    if params.max_new_tokens < 1:
        raise SpecError(f"max_new_tokens is {params.max_new_tokens}", where="decoding", fix="use at least 1")
    for number, prompt in enumerate(prompts):
        if not prompt:
            raise SpecError(f"prompt {number} is empty", where="sampling", fix="give it at least one token")
        if len(prompt) >= student.context_tokens:
            raise SpecError(
                f"prompt {number} has {len(prompt)} tokens and the student's context is {student.context_tokens}",
                where="sampling",
                fix="shorten it, so that there is room for an answer",
            )
        if min(prompt) < 0 or max(prompt) >= student.vocabulary:
            raise SpecError(
                f"prompt {number} holds a token outside the vocabulary of {student.vocabulary}",
                where="sampling",
                fix="render it with the student's own renderer",
            )
