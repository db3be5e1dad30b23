"""A sampler without a model: its completions are computed by a function from the text of the prompt.

It keeps the Sampler protocol to the letter: nothing is sampled before it is opened or after it is closed, completions
arrive out of order, and an answer that is too long is cut. It can be told to fail after some completions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rsibench.errors import InfrastructureFailure
from rsibench.ids import derived_seed
from rsibench.outcomes import FinishReason
from rsibench.ports.sampler import Completion, SampleParams
from rsibench.rendering import ChatMessage, Renderer


class Question(NamedTuple):
    """What the answering function is given: the prompt as text, the adapter, and a seed of this prompt's own."""

    prompt: str
    adapter: Path | None
    seed: int


class FakeSampler:
    """Answers every prompt with `answer(question)`. `calls` lists the number of prompts and parameters of each call."""

    def __init__(self, renderer: Renderer, answer: Callable[[Question], str], fail_after: int | None = None) -> None:
        self._renderer = renderer
        self._answer = answer
        self._left = fail_after
        self._adapter: Path | None = None
        self.is_open = False
        self.calls: list[tuple[int, SampleParams]] = []

    def open(self, student: Path, adapter: Path | None) -> None:
        """Opens on an adapter; `student` is not looked at. RuntimeError when it is open already."""
        if self.is_open:
            raise RuntimeError(f"the sampler is already open, on {student}")
        self.is_open, self._adapter = True, adapter

    def sample(self, prompts: Sequence[tuple[int, ...]], params: SampleParams) -> Iterator[tuple[int, Completion]]:
        """Completions from the last prompt to the first. Raises InfrastructureFailure when it was told to."""
        if not self.is_open:
            raise RuntimeError("sample before open, or after close")
        self.calls.append((len(prompts), params))
        for index in reversed(range(len(prompts))):
            if self._left == 0:
                raise InfrastructureFailure("the sampler stopped as the test asked", failure="worker_died")
            if self._left is not None:
                self._left -= 1
            yield index, self._completion(prompts[index], index, params)

    def close(self) -> None:
        """Closes; closing twice is harmless."""
        self.is_open = False

    def _completion(self, prompt: tuple[int, ...], index: int, params: SampleParams) -> Completion:
        seed = derived_seed(params.seed, index) if params.temperature > 0 else 0
        tokens = self._encoded(self._answer(Question(self._renderer.decode(prompt), self._adapter, seed)))
        kept = tokens[: params.max_new_tokens]
        reason = FinishReason.STOP if len(kept) == len(tokens) else FinishReason.LENGTH
        return Completion(kept, (0.0,) * len(kept), reason)

    def _encoded(self, text: str) -> tuple[int, ...]:
        """Tokens of an assistant's turn: what a training row's mask covers, less the stop token."""
        row = self._renderer.render_row(
            [ChatMessage(role="user", content="?"), ChatMessage(role="assistant", content=text)], last_only=True
        )
        turn = [token for token, masked in zip(row.token_ids, row.loss_mask, strict=True) if masked]
        return tuple(turn[:-1])
