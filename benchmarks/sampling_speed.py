"""How fast the local sampler answers the pocket items, against `transformers.generate` at equal batch.

    python benchmarks/sampling_speed.py --student FOLDER [--adapter FOLDER] [--threads N] [--rounds N]

Same items, prompts, greedy decoding, stop tokens, precision and threads. The peer gets left-padded batches of the
profile's number of rows, in the items' order, the adapter merged as well. Rounds alternate; the answers are compared.
Figures are also given a CPU second, which a busy machine disturbs least; compare the ratios.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from rsibench.evaluation.pocket import make_items
from rsibench.ports.sampler import SampleParams
from rsibench.rendering import ChatMessage, load_renderer
from rsibench.sampling.local import LocalSampler
from rsibench.spec.catalogue import load_profile
from rsibench.spec.item import Split

PADDING = 0


class Answered(NamedTuple):
    """The tokens of every prompt's answer, and the seconds they took together."""

    tokens: list[tuple[int, ...]]
    wall_seconds: float
    cpu_seconds: float


def timed(answer: Callable[[], list[tuple[int, ...]]]) -> Answered:
    """Runs `answer` once."""
    wall, cpu = time.perf_counter(), time.process_time()
    tokens = answer()
    return Answered(tokens, time.perf_counter() - wall, time.process_time() - cpu)


def peer_model(student: Path, adapter: Path | None) -> Any:
    """The same checkpoint in transformers."""
    model: Any = AutoModelForCausalLM.from_pretrained(student, dtype=torch.float32)
    return model if adapter is None else PeftModel.from_pretrained(model, adapter).merge_and_unload()


@torch.inference_mode()
def generate(
    model: Any, prompts: list[tuple[int, ...]], params: SampleParams, batch_rows: int
) -> list[tuple[int, ...]]:
    """Left-padded batches through `model.generate`."""
    answers: list[tuple[int, ...]] = []
    for start in range(0, len(prompts), batch_rows):
        batch = prompts[start : start + batch_rows]
        length = max(len(prompt) for prompt in batch)
        ids = torch.tensor([[PADDING] * (length - len(prompt)) + list(prompt) for prompt in batch])
        mask = torch.tensor([[0] * (length - len(prompt)) + [1] * len(prompt) for prompt in batch])
        made = model.generate(
            ids,
            attention_mask=mask,
            max_new_tokens=params.max_new_tokens,
            do_sample=False,
            eos_token_id=list(params.stop_token_ids),
            pad_token_id=PADDING,
        )
        for row in made[:, length:].tolist():
            end = next((place for place, token in enumerate(row) if token in params.stop_token_ids), len(row))
            answers.append(tuple(row[:end]))
    return answers


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--student", type=Path, required=True)
    parser.add_argument("--adapter", type=Path)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    profile = load_profile("pocket")
    renderer = load_renderer("chatml", options.student)
    prompts = [
        renderer.render_prompt([ChatMessage(role="user", content=item.prompt)])
        for item in make_items(profile.items, Split.SELECTION)
    ]
    params = SampleParams(profile.decoding.max_new_tokens, 0.0, renderer.stop_token_ids)
    rows = profile.decoding.batch_rows
    sampler = LocalSampler(rows, "cpu", options.threads)
    sampler.open(options.student, options.adapter)
    model = peer_model(options.student, options.adapter)
    contestants: dict[str, Callable[[], list[tuple[int, ...]]]] = {
        "rsibench LocalSampler": lambda: [done.tokens for _, done in sorted(sampler.sample(prompts, params))],
        "transformers generate": lambda: generate(model, prompts, params, rows),
    }
    rounds: dict[str, list[Answered]] = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, answer in contestants.items():
            rounds[name].append(timed(answer))
    best = {name: min(done, key=lambda answered: answered.cpu_seconds) for name, done in rounds.items()}
    for name, done in best.items():
        count = sum(len(tokens) for tokens in done.tokens)
        print(
            f"{name:24} {done.wall_seconds:7.1f} s  {done.cpu_seconds:7.1f} CPU-s for {len(prompts)} prompts, "
            f"{sum(map(len, prompts))} prompt and {count} new tokens: {count / done.cpu_seconds:.1f} tokens/CPU-s"
        )
    mine, other = best.values()
    same = sum(left == right for left, right in zip(mine.tokens, other.tokens, strict=True))
    cpu, wall = other.cpu_seconds / mine.cpu_seconds, other.wall_seconds / mine.wall_seconds
    print(f"ratio: {cpu:.2f} a CPU second, {wall:.2f} wall")
    print(f"equal answers: {same} of {len(prompts)}")


if __name__ == "__main__":
    main()
