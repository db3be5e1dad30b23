"""The plan of a training: every batch of every epoch, resolved before the first step.

So cost and progress are known in advance. Invariant: the same lengths, recipe, configuration and seed give the same
plan, and its tokens are exactly epochs times the rows' tokens; padding is never counted.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from rsibench.errors import SpecError
from rsibench.spec.recipe import Recipe, RunConfig
from rsibench.training.batches import epoch_batches


class StepsPlan(NamedTuple):
    """`batches[s]` holds the rows of step s; `train_tokens` are real tokens, `padded_tokens` what is computed."""

    batches: tuple[tuple[int, ...], ...]
    train_tokens: int
    padded_tokens: int

    @property
    def steps(self) -> int:
        """Optimiser steps: one a batch."""
        return len(self.batches)


def plan_steps(lengths: Sequence[int], recipe: Recipe, config: RunConfig, seed: int) -> StepsPlan:
    """The plan for rows of `lengths` tokens. SpecError when there are no rows or the token budget is exceeded."""
    if not lengths:
        raise SpecError("there is nothing to train on: no rows", where="training", fix="submit at least one row")
    train_tokens = config.epochs * sum(lengths)
    if train_tokens > recipe.max_train_tokens:
        raise SpecError(
            f"{config.epochs} epoch(s) of {sum(lengths)} tokens are {train_tokens}, "
            f"more than the {recipe.max_train_tokens} of the token budget",
            where="recipe.max_train_tokens",
            fix="use fewer rows, shorter rows or fewer epochs",
        )
    rng = random.Random(seed)
    batches: list[tuple[int, ...]] = []
    for _ in range(config.epochs):
        batches += epoch_batches(lengths, recipe.batch_tokens, rng)
    padded = sum(len(batch) * max(lengths[index] for index in batch) for batch in batches)
    return StepsPlan(tuple(batches), train_tokens, padded)
