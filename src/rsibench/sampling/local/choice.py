"""Which token comes next: the likeliest, or one drawn with a random number that belongs to the row alone.

Invariant: a row's draws depend on the seed, the row's number and the step, never on other rows of the batch.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from rsibench.ids import derived_seed


class Chosen(NamedTuple):
    """One token a row, and its log-probability in nats under the student itself, before any temperature."""

    tokens: list[int]
    logprobs: list[float]


def row_random(seed: int, row: int) -> random.Random:
    """The random numbers of one prompt."""
    return random.Random(derived_seed("sample", seed, row))


def choose(logits: Tensor, temperature: float, draws: Sequence[random.Random]) -> Chosen:
    """One token for each row of `logits` (rows, vocabulary). `draws` holds one generator a row; greedy ignores it."""
    logits = logits.float()
    if temperature <= 0:
        best, tokens = logits.max(dim=1)
    else:
        tokens = _drawn(logits, temperature, draws)
        best = logits.gather(1, tokens.unsqueeze(1)).squeeze(1)
    return Chosen(tokens.tolist(), (best - logits.logsumexp(dim=1)).tolist())


def _drawn(logits: Tensor, temperature: float, draws: Sequence[random.Random]) -> Tensor:
    """Inverse of the cumulative distribution, in double precision, at one uniform number a row."""
    cumulative = torch.softmax(logits.double() / temperature, dim=1).cumsum(dim=1)
    uniform = torch.tensor([[draw.random()] for draw in draws], dtype=torch.float64, device=logits.device)
    found = torch.searchsorted(cumulative, uniform * cumulative[:, -1:], right=True).squeeze(1)
    return found.clamp_(max=logits.shape[1] - 1)
