"""The unmodified official client against the server, compared with the local trainer and sampler."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault, InfrastructureFailure
from rsibench.ports.sampler import SampleParams
from rsibench.ports.trainer import AdamParams, LoraSpec, TokenExample
from rsibench.sampling.local import LocalSampler
from rsibench.sampling.tinker import TinkerSampler
from rsibench.testing.training import counting_rows
from rsibench.tinker_api.connection import Connection, Service
from rsibench.tinker_serve.served import ServedModel
from rsibench.tinker_serve.server import TinkerServer
from rsibench.tinker_serve.service import Settings
from rsibench.training.local import LocalTrainer
from rsibench.training.rows import to_example
from rsibench.training.tinker import TinkerTrainer

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # left idle by the client

LORA = LoraSpec(rank=4, alpha=8, targets=("q_proj", "v_proj", "down_proj"), top_layers=1)
ADAM = AdamParams(learning_rate=0.01, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.0)
BATCH = [to_example(row) for row in counting_rows(6)]
GREEDY = SampleParams(max_new_tokens=6, temperature=0.0, stop_token_ids=(2,))
PROMPTS = [(5, 6, 7), (8, 9), (10, 11, 12, 13)]
STEPS = 20


def local_losses(student: Path, batch: list[TokenExample], steps: int) -> tuple[LocalTrainer, list[float]]:
    trainer = LocalTrainer("cpu", threads=1)
    trainer.open(student, LORA, 3)
    return trainer, [trainer.step(batch, ADAM).loss_sum for _ in range(steps)]


def test_twenty_steps_and_the_adapter_are_those_of_the_local_trainer(
    service: Service, student: Path, tmp_path: Path
) -> None:
    here, expected = local_losses(student, BATCH, STEPS)
    trainer = TinkerTrainer(service)
    trainer.open(student, LORA, 3)
    assert [trainer.step(BATCH, ADAM).loss_sum for _ in range(STEPS)] == pytest.approx(expected, rel=1e-3)
    adapter = trainer.export_sampler(tmp_path / "there").path
    trainer.close()
    sampler, local = TinkerSampler(service), LocalSampler(4, "cpu", threads=1)
    sampler.open(student, adapter)
    local.open(student, here.export_sampler(tmp_path / "here").path)
    there = dict(sampler.sample(PROMPTS, GREEDY))
    sampler.close()
    assert {index: done.tokens for index, done in there.items()} == {
        index: done.tokens for index, done in local.sample(PROMPTS, GREEDY)
    }


def test_more_rows_than_a_chunk_holds_arrive_in_order(service: Service, student: Path) -> None:
    rows = [to_example(row) for row in counting_rows(1100)]
    _, expected = local_losses(student, rows, 2)
    trainer = TinkerTrainer(service)
    trainer.open(student, LORA, 3)
    assert [trainer.step(rows, ADAM).loss_sum for _ in range(2)] == pytest.approx(expected, rel=1e-3)
    trainer.close()


def test_a_resumed_training_goes_on_as_if_undisturbed(service: Service, student: Path, tmp_path: Path) -> None:
    _, expected = local_losses(student, BATCH, 6)
    first = TinkerTrainer(service)
    first.open(student, LORA, 3)
    for _ in range(3):
        first.step(BATCH, ADAM)
    first.save_state(tmp_path / "state")
    first.close()
    again = TinkerTrainer(service)
    again.open(student, LORA, 99)
    again.resume(tmp_path / "state")
    assert [again.step(BATCH, ADAM).loss_sum for _ in range(3)] == pytest.approx(expected[3:], rel=1e-3)
    again.close()


def test_a_bad_row_is_typed_and_the_model_goes_on(service: Service, student: Path) -> None:
    trainer = TinkerTrainer(service)
    trainer.open(student, LORA, 3)
    with pytest.raises(InfrastructureFailure, match="vocabulary") as caught:
        trainer.step([TokenExample((1, 2), (2, 99_999), (1.0, 1.0))], ADAM)
    assert caught.value.failure == "service_rejected"
    assert trainer.step(BATCH, ADAM).loss_sum > 0
    trainer.close()


def test_preflight_says_what_the_service_lacks(service: Service) -> None:
    connection = Connection(service)
    connection.preflight(512)
    with pytest.raises(EnvironmentFault, match="513"):
        connection.preflight(513)
    connection.close()
    other = Connection(service._replace(model="retired"))
    with pytest.raises(EnvironmentFault, match="retired"):
        other.preflight(1)
    other.close()


def test_a_server_that_is_gone_is_a_typed_failure_within_the_limit(student: Path, tmp_path: Path) -> None:
    trainer: TinkerTrainer | None = None
    with TinkerServer((ServedModel("tiny", student),), Settings(tmp_path / "served", threads=1), "tml-x") as server:
        trainer = TinkerTrainer(Service(server.url, "tml-x", "tiny", call_seconds=4.0))
        trainer.open(student, LORA, 3)
        trainer.step(BATCH, ADAM)
    with pytest.raises(InfrastructureFailure) as caught:
        trainer.step(BATCH, ADAM)
    assert caught.value.failure in {"service_timeout", "service_error"}
    trainer.close()
