"""Resuming a training: the same adapter as undisturbed, only the steps that were left, nothing from a wrong state."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rsibench.ports.trainer import Trainer
from rsibench.testing.trainer import FakeTrainer
from rsibench.testing.training import counting_rows, tiny_config, tiny_recipe
from rsibench.training.kept import StateFolder
from rsibench.training.local import LocalTrainer
from rsibench.training.loop import train
from rsibench.training.result import TrainingResult, TrainProgress

ROWS = counting_rows(60)
EVERY = 4


class Killed(Exception):
    """Stands for the end of the process."""


def kill_at(step: int) -> Callable[[TrainProgress], None]:
    def watch(progress: TrainProgress) -> None:
        if progress.step == step:
            raise Killed

    return watch


def trained(
    trainer: Trainer,
    student: Path,
    out: Path,
    state: Path | None,
    watch: Callable[[TrainProgress], None] | None = None,
    seed: int = 7,
) -> TrainingResult:
    folder = StateFolder(state, EVERY) if state is not None else None
    return train(trainer, student, ROWS, tiny_recipe(), tiny_config(), seed, out, watch, state=folder)


def interrupted(student: Path, tmp_path: Path, at: int = 10) -> Path:
    state = tmp_path / "state"
    with pytest.raises(Killed):
        trained(FakeTrainer(), student, tmp_path / "cut", state, kill_at(at))
    return state


def test_a_local_training_goes_on_to_the_bytes_it_would_have_had(student: Path, tmp_path: Path) -> None:
    whole = trained(LocalTrainer("cpu", threads=1), student, tmp_path / "whole", None)
    with pytest.raises(Killed):
        trained(LocalTrainer("cpu", threads=1), student, tmp_path / "cut", tmp_path / "state", kill_at(10))
    again = trained(LocalTrainer("cpu", threads=1), student, tmp_path / "again", tmp_path / "state")
    assert again.resumed_at_step == 8
    assert again.adapter.sha256 == whole.adapter.sha256
    assert (again.first_loss, again.last_loss, again.loss_tokens) == (
        whole.first_loss,
        whole.last_loss,
        whole.loss_tokens,
    )


def test_only_the_steps_that_were_left_are_done(student: Path, tmp_path: Path) -> None:
    state = interrupted(student, tmp_path)
    trainer, seen = FakeTrainer(), list[TrainProgress]()
    result = trained(trainer, student, tmp_path / "again", state, seen.append)
    assert len(trainer.steps) == result.steps - 8
    assert [progress.step for progress in seen] == list(range(9, result.steps + 1))
    assert seen[-1].tokens == result.train_tokens
    assert not result.state_note


def test_one_state_is_kept_and_no_part_of_another(student: Path, tmp_path: Path) -> None:
    state = interrupted(student, tmp_path)
    assert sorted(path.name for path in state.iterdir()) == ["progress.json", "trainer-000008"]


@pytest.mark.parametrize("seed", [8])
def test_the_state_of_another_training_is_left_aside_and_said(student: Path, tmp_path: Path, seed: int) -> None:
    state = interrupted(student, tmp_path)
    alone = trained(FakeTrainer(), student, tmp_path / "alone", None, seed=seed)
    result = trained(FakeTrainer(), student, tmp_path / "again", state, seed=seed)
    assert result.resumed_at_step == 0
    assert "another training" in result.state_note
    assert result.adapter.sha256 == alone.adapter.sha256


def test_another_student_is_another_training(student: Path, tmp_path: Path) -> None:
    state = interrupted(student, tmp_path)
    other = tmp_path / "student"
    other.mkdir()
    (other / "model.safetensors").write_bytes(b"other weights")
    assert "another training" in trained(FakeTrainer(), other, tmp_path / "again", state).state_note


@pytest.mark.parametrize("damage", ["state-cut", "state-gone", "losses", "no-json"])
def test_a_damaged_state_is_never_taken_up(student: Path, tmp_path: Path, damage: str) -> None:
    state = interrupted(student, tmp_path)
    saved, progress = state / "trainer-000008", state / "progress.json"
    if damage == "state-cut":
        saved.write_bytes(saved.read_bytes()[:-1])
    elif damage == "state-gone":
        saved.unlink()
    elif damage == "losses":
        content = json.loads(progress.read_text())
        progress.write_text(json.dumps({**content, "losses": content["losses"][:-1]}))
    else:
        progress.write_text("{")
    whole = trained(FakeTrainer(), student, tmp_path / "whole", None)
    result = trained(FakeTrainer(), student, tmp_path / "again", state)
    assert result.resumed_at_step == 0
    assert "first step" in result.state_note
    assert result.adapter.sha256 == whole.adapter.sha256


def test_a_finished_training_asked_for_again_repeats_only_its_end(student: Path, tmp_path: Path) -> None:
    first = trained(FakeTrainer(), student, tmp_path / "first", tmp_path / "state")
    trainer = FakeTrainer()
    second = trained(trainer, student, tmp_path / "second", tmp_path / "state")
    assert len(trainer.steps) == first.steps % EVERY
    assert second.adapter.sha256 == first.adapter.sha256
