"""FakeEngine: trains in no time and answers with a skill that its adapters hold, so that whole runs can be tested.

It is deterministic: the same order gives the same adapter bytes, and an adapter gives the same answers.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rsibench.errors import InfrastructureFailure
from rsibench.ids import sha256_bytes
from rsibench.outcomes import FinishReason
from rsibench.ports.sampler import Completion, SampleParams
from rsibench.ports.trainer import AdapterFacts
from rsibench.rendering import ChatMessage, Renderer
from rsibench.run.engine import TrainOrder
from rsibench.spec.item import Item
from rsibench.training.result import TrainingResult, TrainProgress

WEIGHTS = "adapter_model.safetensors"
_STEPS = 4
_WRONG = "I do not know."
_HASH_RANGE = 1 << 64


class FakeEngine:
    """An Engine whose adapters hold a skill: the share of items answered rightly, chosen item by item by a hash.

    `skill` maps an order to its share; the base student has `base_skill`. `failures` maps the number of a training
    (from 1) to a failure that it ends with. `before_step` is called before each step, for tests that stop things there;
    training number `hang_at` never ends by itself, only by `cancel`.
    """

    def __init__(
        self,
        student: Path,
        renderer: Renderer,
        items: Sequence[Item],
        *,
        skill: Callable[[TrainOrder], float],
        base_skill: float = 0.2,
        failures: Mapping[int, InfrastructureFailure] | None = None,
        before_step: Callable[[int, int], None] | None = None,
        hang_at: int | None = None,
    ) -> None:
        self._hang_at = hang_at
        self._student = student
        self._answers = _Answers(renderer, items)
        self._skill = skill
        self._base_skill = base_skill
        self._failures = dict(failures or {})
        self._before_step = before_step
        self._cancelled = threading.Event()
        self.trainings = 0
        """How many trainings were begun."""

    @property
    def student(self) -> Path:
        return self._student

    def train(self, order: TrainOrder, on_progress: Callable[[TrainProgress], None]) -> TrainingResult:
        self.trainings += 1
        self._cancelled.clear()
        total = sum(len(row.token_ids) for row in order.rows) * order.config.epochs
        for step in range(1, _STEPS + 1):
            if self._before_step is not None:
                self._before_step(self.trainings, step)
            if self.trainings == self._hang_at:
                self._cancelled.wait()
            if self._cancelled.is_set():
                raise InfrastructureFailure("cancelled", failure="cancelled")
            if self.trainings in self._failures and step == _STEPS // 2:
                raise self._failures[self.trainings]
            on_progress(TrainProgress(step, _STEPS, total * step // _STEPS, total, 1.0 / step, 0.0, 0))
        order.out.mkdir(parents=True, exist_ok=True)
        data = json.dumps({"skill": self._skill(order), "order": _digest(order)}, sort_keys=True).encode()
        (order.out / WEIGHTS).write_bytes(data)
        loss_tokens = sum(sum(row.loss_mask) for row in order.rows) * order.config.epochs
        return TrainingResult(
            adapter=AdapterFacts(order.out, sha256_bytes(data), 1.0, 1),
            steps=_STEPS,
            train_tokens=total,
            loss_tokens=loss_tokens,
            first_loss=1.0,
            last_loss=1.0 / _STEPS,
            near_noop=False,
            wall_seconds=0.0,
            tokens_per_second=0.0,
            peak_rss_bytes=0,
        )

    def sampler(self) -> SkilledSampler:
        return SkilledSampler(self._answers, self._base_skill)

    def cancel(self) -> None:
        self._cancelled.set()

    def close(self) -> None:
        self._cancelled.set()


class SkilledSampler:
    """A Sampler that answers an item rightly when its hash, with the adapter's, falls below the adapter's skill."""

    def __init__(self, answers: _Answers, base_skill: float) -> None:
        self._answers = answers
        self._base_skill = base_skill
        self._skill = base_skill
        self._salt = b"base"

    def open(self, student: Path, adapter: Path | None) -> None:  # noqa: ARG002 - the protocol's signature
        self._skill, self._salt = self._base_skill, b"base"
        if adapter is not None:
            self._salt = (adapter / WEIGHTS).read_bytes()
            self._skill = float(json.loads(self._salt)["skill"])

    def sample(self, prompts: Sequence[tuple[int, ...]], params: SampleParams) -> Iterator[tuple[int, Completion]]:
        for index, prompt in enumerate(prompts):
            drawn = int.from_bytes(hashlib.sha256(self._salt + repr(prompt).encode()).digest()[:8], "big")
            tokens = self._answers.tokens(prompt, right=drawn < self._skill * _HASH_RANGE)[: params.max_new_tokens]
            yield index, Completion(tokens, tuple(0.0 for _ in tokens), FinishReason.STOP)

    def close(self) -> None:
        self._skill = self._base_skill


class _Answers:
    """Right and wrong answers to items, as tokens, by the prompt that asks for them."""

    def __init__(self, renderer: Renderer, items: Sequence[Item]) -> None:
        self._renderer = renderer
        self._right = {renderer.render_prompt(_ask(item)): self._encode(_right_answer(item)) for item in items}
        self._wrong = self._encode(_WRONG)

    def tokens(self, prompt: tuple[int, ...], *, right: bool) -> tuple[int, ...]:
        """The completion without its stop token."""
        return self._right[prompt] if right else self._wrong

    def _encode(self, text: str) -> tuple[int, ...]:
        row = self._renderer.render_row([_user("x"), ChatMessage(role="assistant", content=text)], last_only=False)
        masked = [token for token, counts in zip(row.token_ids, row.loss_mask, strict=True) if counts]
        return tuple(masked[:-1])


def _user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def _ask(item: Item) -> list[ChatMessage]:
    return [_user(item.prompt)]


def _right_answer(item: Item) -> str:
    """What the item's grader accepts; queries are not answered."""
    if item.grader in ("integer", "number", "choice"):
        return f"Answer: {item.expected}"
    return json.dumps(item.expected)


def _digest(order: TrainOrder) -> str:
    rows = [(row.token_ids, row.loss_mask) for row in order.rows]
    return sha256_bytes(repr((rows, order.config, order.seed)).encode())
