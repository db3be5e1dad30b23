"""Which rows make up which batch: little padding, yet every batch a mixture in a random place of the run.

Rows are shuffled, cut into windows, sorted by length inside each window and packed greedily; then the order of the
batches is shuffled as well, because neighbours in length tend to be of one family and would come one after another.
Invariant: every row is in exactly one batch an epoch, and rows x longest row never exceeds the batch's token limit.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from rsibench.errors import SpecError

WINDOW_ROWS = 256
"""Rows that are sorted by length together: enough for little padding, few enough to keep an epoch's order random."""


def epoch_batches(lengths: Sequence[int], batch_tokens: int, rng: random.Random) -> list[tuple[int, ...]]:
    """One epoch over rows of `lengths` tokens, as batches of row indices. SpecError when a row fits into no batch."""
    for index, length in enumerate(lengths):
        if length > batch_tokens:
            raise SpecError(
                f"row {index + 1} has {length} tokens and a batch holds {batch_tokens}",
                where="recipe.batch_tokens",
                fix="shorten the row or raise recipe.batch_tokens",
            )
    order = list(range(len(lengths)))
    rng.shuffle(order)
    batches: list[tuple[int, ...]] = []
    for start in range(0, len(order), WINDOW_ROWS):
        window = sorted(order[start : start + WINDOW_ROWS], key=lambda index: lengths[index])
        batches += _packed(window, lengths, batch_tokens)
    rng.shuffle(batches)
    return batches


def _packed(window: Sequence[int], lengths: Sequence[int], batch_tokens: int) -> list[tuple[int, ...]]:
    """`window`, ascending in length, cut so that rows x longest row (the last) stays within `batch_tokens`."""
    batches: list[tuple[int, ...]] = []
    batch: list[int] = []
    for index in window:
        if batch and lengths[index] * (len(batch) + 1) > batch_tokens:
            batches.append(tuple(batch))
            batch = []
        batch.append(index)
    if batch:
        batches.append(tuple(batch))
    return batches
