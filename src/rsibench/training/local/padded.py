"""A batch as tensors: inputs padded on the right, and the flat positions at which there is loss.

Padding needs no mask: attention is causal, so no real token ever sees what stands to its right, and padded positions
carry no loss. The padding id therefore does not matter; it is never a target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from rsibench.ports.trainer import TokenExample

_PADDING_ID = 0


class PaddedBatch(NamedTuple):
    """inputs (rows, length); positions in the flat inputs, targets and weights of the loss positions, each (n,)."""

    inputs: Tensor
    positions: Tensor
    targets: Tensor
    weights: Tensor
    weight_sum: float


def pad_batch(batch: Sequence[TokenExample], device: torch.device) -> PaddedBatch:
    """`batch` on `device`."""
    length = max(len(example.inputs) for example in batch)
    inputs: list[list[int]] = []
    positions: list[int] = []
    targets: list[int] = []
    weights: list[float] = []
    for row, example in enumerate(batch):
        inputs.append([*example.inputs, *[_PADDING_ID] * (length - len(example.inputs))])
        for column, weight in enumerate(example.weights):
            if weight:
                positions.append(row * length + column)
                targets.append(example.targets[column])
                weights.append(weight)
    return PaddedBatch(
        torch.tensor(inputs, device=device),
        torch.tensor(positions, device=device),
        torch.tensor(targets, device=device),
        torch.tensor(weights, dtype=torch.float32, device=device),
        sum(weights),
    )
