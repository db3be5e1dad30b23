"""Adapters in the sampler: merged exactly, and independent of what was open before."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM

from rsibench.ids import sha256_file
from rsibench.ports.sampler import Completion, SampleParams
from rsibench.sampling.local import LocalSampler

GREEDY = SampleParams(max_new_tokens=10, temperature=0.0, stop_token_ids=())
PROMPTS = [(5, 6, 7, 8), (100, 120, 140), (9,) * 12]


def make_adapter(student: Path, folder: Path, seed: int) -> Path:
    """A random adapter in PEFT's own format, written by PEFT."""
    torch.manual_seed(seed)
    config = LoraConfig(
        r=4, lora_alpha=16, target_modules=["q_proj", "up_proj"], init_lora_weights=False, task_type="CAUSAL_LM"
    )
    with pytest.warns(FutureWarning):
        model = get_peft_model(AutoModelForCausalLM.from_pretrained(student), config)
    model.save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="module")
def adapters(student: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("adapters")
    return make_adapter(student, root / "one", 1), make_adapter(student, root / "two", 2)


def ask(sampler: LocalSampler, student: Path, adapter: Path | None) -> list[Completion]:
    sampler.open(student, adapter)
    return [completion for _, completion in sorted(sampler.sample(PROMPTS, GREEDY))]


def test_what_was_open_before_does_not_matter(student: Path, adapters: tuple[Path, Path]) -> None:
    one, two = adapters
    fresh = {adapter: ask(LocalSampler(4, "cpu", threads=1), student, adapter) for adapter in (None, one, two)}
    used = LocalSampler(4, "cpu", threads=1)
    for adapter in (one, two, None, one, None, two):
        assert ask(used, student, adapter) == fresh[adapter]
    assert len({answers[0].tokens for answers in fresh.values()}) == 3


def test_merged_answers_are_those_of_the_adapter_beside_the_weights(student: Path, adapters: tuple[Path, Path]) -> None:
    with pytest.warns(FutureWarning):
        model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(student), adapters[0]).eval()
    for prompt, completion in zip(PROMPTS, ask(LocalSampler(4, "cpu", threads=1), student, adapters[0]), strict=True):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([prompt + completion.tokens])).logits[0].log_softmax(-1)
        expected = [float(logits[len(prompt) - 1 + place].max()) for place in range(len(completion.tokens))]
        assert completion.logprobs == pytest.approx(expected, abs=1e-4)


def test_the_students_file_is_left_as_it_was(student: Path, adapters: tuple[Path, Path]) -> None:
    before = sha256_file(student / "model.safetensors")
    ask(LocalSampler(4, "cpu", threads=1), student, adapters[1])
    assert sha256_file(student / "model.safetensors") == before
