"""How fast the local trainer trains, against TRL's SFTTrainer and against the machine's own matrix product.

    python benchmarks/training_speed.py --student FOLDER [--threads N] [--steps N] [--rounds N]

Both train the same rows of the pocket kit on the same student, layers, adapter, precision and threads; the peer gets
batches of as many rows as ours hold on average, no gradient checkpointing (its own default is slower), and no logging.
Tokens are real ones, no padding. Rounds alternate, the first steps of each are not counted. Figures are also given a
CPU second, which a busy machine disturbs least; compare the ratios. Without `trl` installed only our figures are shown.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import random
import time
import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch

from rsibench.evaluation.pocket.kit.rows import make_rows
from rsibench.ports.trainer import TokenExample
from rsibench.rendering import ChatMessage, RenderedRow, load_renderer
from rsibench.spec.catalogue import load_profile
from rsibench.spec.profile import Profile
from rsibench.spec.recipe import RunConfig
from rsibench.training.batches import epoch_batches
from rsibench.training.local import LocalTrainer
from rsibench.training.loop import lora_for, peak_rss_bytes
from rsibench.training.rows import to_example
from rsibench.training.schedule import adam_for

WARM_STEPS = 2
ROWS = 600
RANK = 16
SEED = 1
PRODUCTS = ((1024, 576, 1536), (1024, 1536, 576), (1024, 1024, 1024))
"""(rows, in, out) of the products whose best rate counts as the machine's."""


class Measured(NamedTuple):
    """Real tokens trained on after the warm steps, and the seconds they took."""

    tokens: int
    wall_seconds: float
    cpu_seconds: float

    def plus(self, other: Measured) -> Measured:
        """Both together."""
        return Measured(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Stopwatch:
    """Wall and processor time since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self, tokens: int) -> Measured:
        """What has passed, for `tokens`."""
        return Measured(tokens, time.perf_counter() - self._wall, time.process_time() - self._cpu)


def kit_rows(profile: Profile, student: Path) -> list[RenderedRow]:
    """Worked rows of all families, rendered."""
    renderer = load_renderer("chatml", student)
    made = islice(make_rows(profile.items.families, "worked", ROWS, SEED), ROWS)
    return [
        renderer.render_row([ChatMessage.model_validate(message) for message in row["messages"]], last_only=False)
        for row in made
    ]


def ours(student: Path, rows: list[RenderedRow], profile: Profile, threads: int, steps: int) -> Measured:
    """The local trainer under the profile's recipe."""
    config = RunConfig(learning_rate=profile.recipe.knobs.learning_rate.default, epochs=1, lora_rank=RANK)
    examples: list[TokenExample] = [to_example(row) for row in rows]
    batches = epoch_batches([len(row.token_ids) for row in rows], profile.recipe.batch_tokens, random.Random(SEED))
    trainer = LocalTrainer("cpu", threads)
    trainer.open(student, lora_for(profile.recipe, config), SEED)
    watch, tokens = Stopwatch(), 0
    for step, batch in enumerate(batches[: WARM_STEPS + steps]):
        if step == WARM_STEPS:
            watch, tokens = Stopwatch(), 0
        trainer.step([examples[row] for row in batch], adam_for(step, len(batches), 1e-3, profile.recipe.optimizer))
        tokens += sum(len(rows[row].token_ids) for row in batch)
    measured = watch.read(tokens)
    trainer.close()
    return measured


def peer(student: Path, rows: list[RenderedRow], profile: Profile, threads: int, steps: int) -> Measured:
    """TRL's SFTTrainer on the same rows, with batches of our average number of rows."""
    trl_peer = importlib.import_module("trl_peer")  # beside this file; it needs trl, which is not a dependency
    torch.set_num_threads(threads)
    lengths = [len(row.token_ids) for row in rows]
    batches = epoch_batches(lengths, profile.recipe.batch_tokens, random.Random(SEED))
    plan = trl_peer.Plan(RANK, round(len(rows) / len(batches)), WARM_STEPS, steps, SEED)
    return Measured(*trl_peer.train(student, rows, profile.recipe.lora, plan))


def product_rate(threads: int) -> float:
    """Best fp32 matrix product rate of this machine, in flops a CPU second."""
    torch.set_num_threads(threads)
    best = 0.0
    for rows, width, out in PRODUCTS:
        left, right = torch.randn(rows, width), torch.randn(width, out)
        for _ in range(3):
            watch = Stopwatch()
            for _ in range(20):
                torch.mm(left, right)
            best = max(best, 20 * 2 * rows * width * out / watch.read(0).cpu_seconds)
    return best


def flops_a_token(student: Path, profile: Profile, loss_share: float) -> float:
    """2 a weight forward, 2 backward in trained layers, 6 an adapter weight, 4 a head weight at loss positions.

    Attention scores, norms and the optimiser are left out, so the share of the machine's rate is a lower bound.
    """
    config = json.loads((student / "config.json").read_text(encoding="utf-8"))
    width, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    keys = width * config["num_key_value_heads"] // config["num_attention_heads"]
    shapes = [
        (width, width),
        (width, keys),
        (width, keys),
        (width, width),
        (width, inner),
        (width, inner),
        (inner, width),
    ]
    layer = sum(left * right for left, right in shapes)
    adapter = RANK * sum(left + right for left, right in shapes)
    top = profile.recipe.lora.top_layers or layers
    return 2 * layers * layer + 2 * top * layer + 6 * top * adapter + 4 * loss_share * config["vocab_size"] * width


def shown(name: str, measured: Measured) -> str:
    """One line of figures."""
    a_second, a_cpu_second = measured.tokens / measured.wall_seconds, measured.tokens / measured.cpu_seconds
    return f"{name:24} {a_second:8.1f} tokens/s  {a_cpu_second:8.1f} tokens/CPU-s  ({measured.tokens} tokens)"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--student", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    profile = load_profile("pocket")
    rows = kit_rows(profile, options.student)
    contestants: dict[str, Callable[..., Measured]] = {"rsibench LocalTrainer": ours}
    if importlib.util.find_spec("trl") is not None:
        contestants["trl SFTTrainer"] = peer
    totals = dict.fromkeys(contestants, Measured(0, 0.0, 0.0))
    rate = 0.0
    for _ in range(options.rounds):
        rate = max(rate, product_rate(options.threads))
        for name, contestant in contestants.items():
            done = contestant(options.student, rows, profile, options.threads, options.steps)
            totals[name] = totals[name].plus(done)
    for name, total in totals.items():
        print(shown(name, total))
    mine = totals["rsibench LocalTrainer"]
    share = sum(sum(row.loss_mask) for row in rows) / sum(len(row.token_ids) for row in rows)
    used = flops_a_token(options.student, profile, share) * mine.tokens / mine.cpu_seconds
    print(f"matrix product           {rate / 1e9:8.1f} Gflop/CPU-s; the trainer uses {used / rate:.0%} of it")
    for name, total in totals.items():
        if total is not mine:
            print(
                f"ratio to {name}: {mine.tokens / mine.cpu_seconds * total.cpu_seconds / total.tokens:.2f} a CPU second"
            )
    print(f"peak memory of this process: {peak_rss_bytes() / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
