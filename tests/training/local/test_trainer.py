"""LocalTrainer on the tiny student: one step against autograd, determinism, resuming, refusals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

from rsibench.errors import EnvironmentFault, SpecError
from rsibench.ports.trainer import AdamParams, LoraSpec, TokenExample
from rsibench.testing.training import counting_rows, tiny_config, tiny_recipe
from rsibench.training.local import LocalTrainer
from rsibench.training.loop import train
from rsibench.training.rows import to_example

LORA = LoraSpec(rank=4, alpha=8, targets=("q_proj", "v_proj", "down_proj"), top_layers=1)
ADAM = AdamParams(learning_rate=0.01, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.0)
BATCH = [to_example(row) for row in counting_rows(6)]


def opened(student: Path, lora: LoraSpec = LORA, seed: int = 3) -> LocalTrainer:
    trainer = LocalTrainer("cpu", threads=1)
    trainer.open(student, lora, seed)
    return trainer


def test_losses_are_those_of_an_ordinary_loop(student: Path) -> None:
    """The same steps with transformers, PEFT, full logits, an attention mask and one row at a time."""
    torch.manual_seed(3)
    config = LoraConfig(
        r=4, lora_alpha=8, target_modules=list(LORA.targets), layers_to_transform=[1], task_type="CAUSAL_LM"
    )
    with pytest.warns(FutureWarning):
        model = get_peft_model(AutoModelForCausalLM.from_pretrained(student), config)
    optimizer = torch.optim.AdamW(
        [parameter for parameter in model.parameters() if parameter.requires_grad],
        lr=0.01,
        betas=(0.9, 0.95),
        weight_decay=0.0,
    )
    trainer = opened(student)
    for _ in range(4):
        result = trainer.step(BATCH, ADAM)
        losses = [_row_loss(model, example) for example in BATCH]
        weight_sum = sum(sum(example.weights) for example in BATCH)
        mean = torch.stack(losses).sum() / weight_sum
        mean.backward()  # type: ignore[no-untyped-call]  # untyped in torch
        optimizer.step()
        optimizer.zero_grad()
        assert result.weight_sum == weight_sum
        assert result.loss_sum / result.weight_sum == pytest.approx(mean.item(), rel=1e-4)


def _row_loss(model: nn.Module, example: TokenExample) -> Tensor:
    inputs = torch.tensor([example.inputs])
    logits = model(input_ids=inputs, attention_mask=torch.ones_like(inputs)).logits[0]
    losses = nn.functional.cross_entropy(logits, torch.tensor(example.targets), reduction="none")
    return (losses * torch.tensor(example.weights)).sum()


def test_padding_changes_no_loss(student: Path) -> None:
    together = opened(student).step(BATCH, ADAM)
    apart = [opened(student).step([example], ADAM) for example in BATCH]
    assert together.loss_sum == pytest.approx(sum(result.loss_sum for result in apart), rel=1e-5)


def test_layers_below_the_adapter_leave_no_graph(student: Path) -> None:
    trainer = opened(student)
    outputs: dict[int, Tensor] = {}
    assert trainer.model is not None
    student_model: Any = trainer.model.get_base_model()
    layers = student_model.get_decoder().layers
    for number, layer in enumerate(layers):
        layer.register_forward_hook(lambda _m, _i, output, number=number: outputs.__setitem__(number, output))
    trainer.step(BATCH, ADAM)
    assert outputs[0].grad_fn is None
    assert outputs[1].grad_fn is not None


SCRIPT = """
import sys
from pathlib import Path
from rsibench.testing.training import counting_rows, tiny_config, tiny_recipe
from rsibench.training.local import LocalTrainer
from rsibench.training.loop import train
student, out = map(Path, sys.argv[1:])
trainer = LocalTrainer("cpu", threads=2)
print(train(trainer, student, counting_rows(40), tiny_recipe(), tiny_config(epochs=2), 11, out).adapter.sha256)
"""


def test_two_processes_write_the_same_bytes(student: Path, tmp_path: Path) -> None:
    hashes = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(student), str(tmp_path / name)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for name in ("one", "two")
    ]
    assert hashes[0] == hashes[1]
    configs = [(tmp_path / name / "adapter_config.json").read_bytes() for name in ("one", "two")]
    assert configs[0] == configs[1]


def test_another_seed_starts_from_another_adapter(student: Path, tmp_path: Path) -> None:
    assert opened(student, seed=1).export_sampler(tmp_path / "a") != opened(student, seed=2).export_sampler(
        tmp_path / "b"
    )


def test_a_fresh_adapter_changes_nothing(student: Path, tmp_path: Path) -> None:
    assert opened(student).export_sampler(tmp_path / "a").delta_norm == 0.0


def test_what_was_trained_before_does_not_matter(student: Path, tmp_path: Path) -> None:
    trainer = LocalTrainer("cpu", threads=1)
    rows, recipe = counting_rows(20), tiny_recipe()
    first = train(trainer, student, rows, recipe, tiny_config(), 5, tmp_path / "a").adapter.sha256
    train(trainer, student, counting_rows(20, seed=9), recipe, tiny_config(lora_rank=2), 6, tmp_path / "b")
    assert train(trainer, student, rows, recipe, tiny_config(), 5, tmp_path / "c").adapter.sha256 == first


def test_a_resumed_training_ends_with_the_same_bytes(student: Path, tmp_path: Path) -> None:
    whole = opened(student)
    for _ in range(6):
        whole.step(BATCH, ADAM)
    half = opened(student)
    for _ in range(3):
        half.step(BATCH, ADAM)
    half.save_state(tmp_path / "state")
    half.close()
    other = opened(student, seed=99)
    other.resume(tmp_path / "state")
    for _ in range(3):
        other.step(BATCH, ADAM)
    assert other.export_sampler(tmp_path / "b").sha256 == whole.export_sampler(tmp_path / "a").sha256


def test_a_state_of_another_shape_is_refused(student: Path, tmp_path: Path) -> None:
    opened(student).save_state(tmp_path / "state")
    with pytest.raises(SpecError, match="another adapter shape"):
        opened(student, LORA._replace(rank=2)).resume(tmp_path / "state")


def test_a_closed_trainer_refuses_everything(student: Path, tmp_path: Path) -> None:
    trainer = opened(student)
    trainer.close()
    with pytest.raises(SpecError, match="not open"):
        trainer.step(BATCH, ADAM)
    with pytest.raises(SpecError, match="not open"):
        trainer.export_sampler(tmp_path)


def test_a_batch_without_loss_is_refused(student: Path) -> None:
    with pytest.raises(SpecError, match="without any loss"):
        opened(student).step([TokenExample((1, 2), (2, 3), (0.0, 0.0))], ADAM)


def test_more_layers_than_the_student_has_are_refused(student: Path) -> None:
    with pytest.raises(SpecError, match="top 3 layers of a student that has 2"):
        opened(student, LORA._replace(top_layers=3))


def test_targets_that_do_not_exist_are_refused(student: Path) -> None:
    with pytest.raises(SpecError, match="does not fit"):
        opened(student, LORA._replace(targets=("query",)))


def test_a_folder_that_is_no_student_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="cannot be loaded"):
        opened(tmp_path)


def test_all_layers_train_when_none_are_named(student: Path, tmp_path: Path) -> None:
    trainer = opened(student, LORA._replace(top_layers=None))
    one = opened(student).export_sampler(tmp_path / "one").parameters
    assert trainer.export_sampler(tmp_path / "all").parameters == 2 * one


def test_memory_is_let_go_of_on_closing(student: Path) -> None:
    trainer = opened(student)
    trainer.step(BATCH, ADAM)
    trainer.close()
    assert trainer.model is None


def test_a_step_in_two_halves_is_the_step(student: Path, tmp_path: Path) -> None:
    fused, halves = opened(student), opened(student)
    weight_sum = sum(sum(example.weights) for example in BATCH)
    shares = [example._replace(weights=tuple(weight / weight_sum for weight in example.weights)) for example in BATCH]
    for _ in range(3):
        result = fused.step(BATCH, ADAM)
        scored = halves.score(BATCH)
        assert not halves.pending
        logprobs = halves.accumulate(shares)
        assert logprobs == scored
        assert halves.pending
        halves.apply(ADAM)
        loss = -sum(
            logprob * weight
            for row, example in zip(logprobs, BATCH, strict=True)
            for logprob, weight in zip(row, example.weights, strict=True)
        )
        assert loss == pytest.approx(result.loss_sum, rel=1e-6)
    assert halves.export_sampler(tmp_path / "b").sha256 == fused.export_sampler(tmp_path / "a").sha256


def test_gradients_add_up_over_parts_of_a_batch(student: Path) -> None:
    whole, parts = opened(student), opened(student)
    whole.accumulate(BATCH)
    parts.accumulate(BATCH[:2])
    parts.accumulate(BATCH[2:])
    for trainer in (whole, parts):
        trainer.apply(ADAM)
    for one, other in zip(whole.score(BATCH), parts.score(BATCH), strict=True):
        assert one == pytest.approx(other, abs=1e-4)
