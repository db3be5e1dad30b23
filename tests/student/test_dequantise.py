"""What comes out of a GGUF file is the model that went in, as an independent reader sees it too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from rsibench.errors import InfrastructureFailure, SpecError
from rsibench.student import ensure_student
from rsibench.student.conversion import convert
from rsibench.student.dequantise import dequantise
from rsibench.testing.gguf import tiny_gguf, tiny_wheel

from .conftest import Placed, Watched


def test_weights_and_config_come_back(placed: Placed) -> None:
    folder, _ = ensure_student(placed.spec, placed.cache)
    found, made = load_file(folder / "model.safetensors"), load_file(placed.source / "model.safetensors")
    assert found.keys() == made.keys()
    assert all(np.array_equal(found[name], made[name]) for name in made)
    config, made_config = (json.loads((path / "config.json").read_text()) for path in (folder, placed.source))
    assert config == made_config


def test_weights_are_those_that_transformers_reads(tmp_path: Path) -> None:
    """transformers has its own GGUF reader; the rotary order of query and key rows must agree with it."""
    transformers = pytest.importorskip("transformers")
    gguf_file = tiny_gguf(tmp_path / "made")
    dequantise(gguf_file, tmp_path)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(gguf_file.parent, gguf_file=gguf_file.name).state_dict()
    ours = load_file(tmp_path / "model.safetensors")
    assert all(np.array_equal(ours[name], theirs[name].numpy()) for name in ours)
    assert theirs.keys() - ours.keys() == {"lm_head.weight"}


def test_digits_stand_alone_and_leave_the_space_before_them_whole(placed: Placed) -> None:
    folder, _ = ensure_student(placed.spec, placed.cache)
    tokens = Tokenizer.from_file(str(folder / "tokenizer.json")).encode("12  3\n\n4<|im_end|>").tokens
    assert tokens == ["1", "2", "ĠĠ", "3", "ĊĊ", "4", "<|im_end|>"]


@pytest.mark.parametrize(
    ("split", "architecture", "reason"),
    [
        ("llama-bpe", "llama", "'gpt2' split as 'llama-bpe'"),
        ("smollm", "gemma", "architecture is 'gemma'; only llama"),
    ],
)
def test_another_kind_of_gguf_is_refused_by_name(tmp_path: Path, split: str, architecture: str, reason: str) -> None:
    cache = tmp_path / "cache"
    spec = tiny_wheel(cache / "downloads", tiny_gguf(tmp_path / "made", split=split, architecture=architecture))
    with pytest.raises(SpecError, match=reason):
        ensure_student(spec, cache)


def test_a_crash_is_a_typed_failure_that_keeps_the_reason(tmp_path: Path, watched: Watched) -> None:
    garbage = tmp_path / "garbage.gguf"
    garbage.write_bytes(b"no such format")
    with pytest.raises(InfrastructureFailure, match=r"ended with code 1:\n(.*\n)*ValueError: GGUF magic") as caught:
        convert(garbage, tmp_path, tmp_path, watched)
    assert caught.value.failure == "dequantiser_crashed"


def test_a_missing_library_says_which_extra_has_it(tmp_path: Path) -> None:
    hide = "import sys; sys.modules['gguf'] = None; from rsibench.student.dequantise import main; "
    done = subprocess.run(
        [sys.executable, "-c", hide + "sys.exit(main(['no.gguf', '.']))"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "the library gguf is missing" in done.stderr
    assert "rsibench-data[local]" in done.stderr


@pytest.mark.student
def test_the_real_student_answers_a_question(student_folder: Path) -> None:
    """End to end on the real artefact: its weights, tokenizer and template belong together."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from rsibench.rendering import ChatMessage, load_renderer  # noqa: PLC0415 - only this test needs it

    renderer = load_renderer("chatml", student_folder)
    prompt = renderer.render_prompt([ChatMessage(role="user", content="What is the capital of France?")])
    model = transformers.AutoModelForCausalLM.from_pretrained(student_folder)
    with torch.no_grad():
        tokens = model.generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones((1, len(prompt)), dtype=torch.long),
            max_new_tokens=16,
            do_sample=False,
            eos_token_id=list(renderer.stop_token_ids),
        )
    assert "Paris" in renderer.decode(tokens[0, len(prompt) :].tolist())
