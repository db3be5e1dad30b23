"""The loop over a trainer that really learns but needs no torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rsibench.errors import InfrastructureFailure, SpecError
from rsibench.ports.trainer import AdamParams, StepResult, TokenExample
from rsibench.testing.clock import FakeClock
from rsibench.testing.trainer import FakeTrainer
from rsibench.testing.training import counting_rows, tiny_config, tiny_recipe
from rsibench.training.loop import lora_for, train
from rsibench.training.plan import plan_steps
from rsibench.training.result import TrainProgress
from rsibench.training.rows import to_example
from rsibench.training.schedule import adam_for

ROWS = counting_rows(60)


class DivergingTrainer(FakeTrainer):
    """Its third loss is no number."""

    def step(self, batch: Sequence[TokenExample], adam: AdamParams) -> StepResult:
        result = super().step(batch, adam)
        return StepResult(float("nan"), result.weight_sum) if len(self.steps) == 3 else result


def test_it_drives_exactly_the_plan(tmp_path: Path) -> None:
    trainer, recipe, config = FakeTrainer(), tiny_recipe(), tiny_config(epochs=2)
    result = train(trainer, tmp_path, ROWS, recipe, config, 7, tmp_path / "adapter")
    plan = plan_steps([len(row.token_ids) for row in ROWS], recipe, config, 7)
    examples = [to_example(row) for row in ROWS]
    assert [batch for batch, _ in trainer.steps] == [tuple(examples[row] for row in batch) for batch in plan.batches]
    expected = [adam_for(step, plan.steps, config.learning_rate, recipe.optimizer) for step in range(plan.steps)]
    assert [adam for _, adam in trainer.steps] == expected
    assert trainer.calls == ["open", *["step"] * plan.steps, "export_sampler", "close"]
    assert (result.steps, result.train_tokens) == (plan.steps, 2 * sum(len(row.token_ids) for row in ROWS))
    assert result.loss_tokens == 2 * sum(sum(row.loss_mask) for row in ROWS)


def test_it_learns_and_says_so(tmp_path: Path) -> None:
    result = train(FakeTrainer(), tmp_path, ROWS, tiny_recipe(), tiny_config(epochs=4), 7, tmp_path / "adapter")
    assert result.last_loss < result.first_loss
    assert not result.near_noop


def test_an_adapter_that_hardly_moved_is_labelled(tmp_path: Path) -> None:
    recipe = tiny_recipe(near_noop=1e6)
    assert train(FakeTrainer(), tmp_path, ROWS, recipe, tiny_config(), 7, tmp_path / "adapter").near_noop


def test_the_same_seed_gives_the_same_adapter_and_another_seed_another(tmp_path: Path) -> None:
    def sha(seed: int, folder: str) -> str:
        made = train(FakeTrainer(), tmp_path, ROWS, tiny_recipe(), tiny_config(), seed, tmp_path / folder)
        return made.adapter.sha256

    assert sha(1, "a") == sha(1, "b")
    assert sha(1, "a") != sha(2, "c")


def test_progress_ends_at_the_plan(tmp_path: Path) -> None:
    seen: list[TrainProgress] = []
    result = train(FakeTrainer(), tmp_path, ROWS, tiny_recipe(), tiny_config(), 7, tmp_path / "a", seen.append)
    assert [progress.step for progress in seen] == list(range(1, result.steps + 1))
    assert {(progress.steps, progress.total_tokens) for progress in seen} == {(result.steps, result.train_tokens)}
    tokens = [progress.tokens for progress in seen]
    assert tokens == sorted(tokens)
    assert tokens[-1] == result.train_tokens
    assert all(progress.peak_rss_bytes > 1_000_000 for progress in seen)


def test_time_is_taken_from_the_clock_that_was_given(tmp_path: Path) -> None:
    clock = FakeClock()

    def tick(_: TrainProgress) -> None:
        clock.sleep(2.0)

    result = train(FakeTrainer(), tmp_path, ROWS, tiny_recipe(), tiny_config(), 7, tmp_path / "a", tick, clock)
    assert result.wall_seconds == pytest.approx(2.0 * result.steps)
    assert result.tokens_per_second == pytest.approx(result.train_tokens / result.wall_seconds)


def test_a_loss_that_is_no_number_ends_the_training_typed(tmp_path: Path) -> None:
    trainer = DivergingTrainer()
    with pytest.raises(InfrastructureFailure, match="step 3 of") as caught:
        train(trainer, tmp_path, ROWS, tiny_recipe(), tiny_config(), 7, tmp_path / "adapter")
    assert caught.value.failure == "training_diverged"
    assert trainer.calls[-1] == "close"
    assert not (tmp_path / "adapter").exists()


def test_what_the_progress_callback_raises_ends_the_training(tmp_path: Path) -> None:
    trainer = FakeTrainer()

    def stop(_: TrainProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(trainer, tmp_path, ROWS, tiny_recipe(), tiny_config(), 7, tmp_path / "adapter", stop)
    assert trainer.calls == ["open", "step", "close"]


def test_nothing_is_opened_for_rows_that_cannot_be_trained_on(tmp_path: Path) -> None:
    trainer = FakeTrainer()
    with pytest.raises(SpecError):
        train(trainer, tmp_path, [], tiny_recipe(), tiny_config(), 7, tmp_path / "adapter")
    assert trainer.calls == []


def test_the_rank_is_the_submissions_and_the_rest_the_recipes() -> None:
    lora = lora_for(tiny_recipe(alpha=16), tiny_config(lora_rank=3))
    assert (lora.rank, lora.alpha, lora.top_layers) == (3, 16, 1)
