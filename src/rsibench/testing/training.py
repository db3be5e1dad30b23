"""A recipe and rows that fit the tiny student: for tests of training, never for a score."""

from __future__ import annotations

import random

from rsibench.rendering import RenderedRow
from rsibench.spec.recipe import Knob, Knobs, LoraShape, Optimizer, Recipe, RunConfig

VOCABULARY = 272
"""Tokens of the tiny student."""
SHORTEST_ROW, LONGEST_ROW = 6, 40


def tiny_recipe(
    *, batch_tokens: int = 128, max_train_tokens: int = 100_000, near_noop: float = 0.001, alpha: int = 8
) -> Recipe:
    """A recipe that trains one of the tiny student's two layers."""
    return Recipe(
        version="tiny-1",
        lora=LoraShape(alpha=alpha, targets=("q_proj", "v_proj", "down_proj"), top_layers=1),
        optimizer=Optimizer(
            beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.0, warmup_fraction=0.1, final_learning_rate_fraction=0.1
        ),
        knobs=Knobs(
            learning_rate=Knob(default=0.01, minimum=1e-5, maximum=0.1),
            epochs=Knob(default=1, minimum=1, maximum=8, whole=True),
            lora_rank=Knob(default=4, minimum=1, maximum=16, whole=True),
        ),
        batch_tokens=batch_tokens,
        max_train_tokens=max_train_tokens,
        max_row_tokens=64,
        near_noop_delta_norm=near_noop,
    )


def tiny_config(*, learning_rate: float = 0.01, epochs: int = 1, lora_rank: int = 4) -> RunConfig:
    """A resolved submission's configuration."""
    return RunConfig(learning_rate=learning_rate, epochs=epochs, lora_rank=lora_rank)


def counting_rows(count: int, seed: int = 0) -> list[RenderedRow]:
    """Rows of 6 to 40 tokens that count upwards by 1, 2 or 3, the later part of each under loss."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        length, start, step = rng.randint(SHORTEST_ROW, LONGEST_ROW), rng.randrange(VOCABULARY), rng.choice((1, 2, 3))
        tokens = tuple((start + step * place) % VOCABULARY for place in range(length))
        first = rng.randint(1, length - 2)
        made.append(RenderedRow(tokens, tuple(place >= first for place in range(length))))
    return made
