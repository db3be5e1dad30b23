"""The exported adapter: standard, byte-stable, and without a trace of the machine."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from torch import nn
from transformers import AutoModelForCausalLM

from rsibench.ids import sha256_file
from rsibench.ports.trainer import AdapterFacts, TokenExample
from rsibench.testing.training import counting_rows, tiny_config, tiny_recipe
from rsibench.training.local import LocalTrainer
from rsibench.training.loop import lora_for, train
from rsibench.training.rows import to_example
from rsibench.training.schedule import adam_for


@pytest.fixture(scope="module")
def adapter(student: Path, tmp_path_factory: pytest.TempPathFactory) -> AdapterFacts:
    out = tmp_path_factory.mktemp("trained") / "adapter"
    return train(
        LocalTrainer("cpu", threads=1), student, counting_rows(40), tiny_recipe(), tiny_config(), 3, out
    ).adapter


def test_the_delta_norm_is_that_of_the_products(adapter: AdapterFacts) -> None:
    weights = load_file(adapter.path / "adapter_model.safetensors")
    scale = 8 / 4
    squares = 0.0
    for name, down in weights.items():
        if name.endswith("lora_A.weight"):
            up = weights[name.replace("lora_A", "lora_B")]
            squares += float((scale * up.double() @ down.double()).pow(2).sum())
    assert squares > 0
    assert adapter.delta_norm == pytest.approx(math.sqrt(squares), rel=1e-6)


def test_the_facts_are_those_of_the_file(adapter: AdapterFacts) -> None:
    file = adapter.path / "adapter_model.safetensors"
    assert adapter.sha256 == sha256_file(file)
    assert adapter.parameters == sum(tensor.numel() for tensor in load_file(file).values())


def test_only_the_top_layer_is_in_it(adapter: AdapterFacts) -> None:
    names = load_file(adapter.path / "adapter_model.safetensors").keys()
    assert names
    assert all(".layers.1." in name for name in names)


def test_no_path_is_written(adapter: AdapterFacts, student: Path) -> None:
    text = (adapter.path / "adapter_config.json").read_text(encoding="utf-8")
    assert json.loads(text)["base_model_name_or_path"] == ""
    assert str(student) not in text
    assert sorted(file.name for file in adapter.path.iterdir()) == ["adapter_config.json", "adapter_model.safetensors"]


def test_peft_reads_it_back_with_the_loss_that_the_trainer_has(student: Path, tmp_path: Path) -> None:
    trainer = LocalTrainer("cpu", threads=1)
    trainer.open(student, lora_for(tiny_recipe(), tiny_config()), 3)
    adam = adam_for(0, 1, 0.05, tiny_recipe().optimizer)
    batch = [to_example(row) for row in counting_rows(8, seed=5)]
    before = trainer.step(batch, adam)
    trainer.step(batch, adam)
    trainer.export_sampler(tmp_path / "adapter")
    after = trainer.step(batch, adam)
    with pytest.warns(FutureWarning):
        model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(student), tmp_path / "adapter")
    assert after.loss_sum < 0.98 * before.loss_sum
    assert sum(_loss(model, example) for example in batch) == pytest.approx(after.loss_sum, rel=1e-4)


@torch.no_grad()
def _loss(model: nn.Module, example: TokenExample) -> float:
    logits = model(input_ids=torch.tensor([example.inputs])).logits[0]
    losses = nn.functional.cross_entropy(logits, torch.tensor(example.targets), reduction="none")
    return float((losses * torch.tensor(example.weights)).sum())
