"""Cross-entropy and its gradient at loss positions only, in pieces, so that logits of a whole batch never exist.

The head is frozen, so its gradient reaches the hidden states alone and can be formed while the logits are at hand:
d loss / d h = (softmax(h W^T) - onehot(target)) W. It is not an autograd graph; the caller continues from the gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from rsibench.training.local.products import times, times_transposed

PIECE_ROWS = 256
"""Positions a piece: with 49 k tokens of vocabulary, 50 MB of logits."""


class HeadLoss(NamedTuple):
    """`loss_sum` () is the weighted sum in nats; `gradient` (n, width) is that of loss_sum / weight_sum.

    `logprobs` (n,) are those of the targets, in nats.
    """

    loss_sum: Tensor
    gradient: Tensor
    logprobs: Tensor


@torch.no_grad()
def head_loss(hidden: Tensor, weight: Tensor, targets: Tensor, weights: Tensor, weight_sum: float) -> HeadLoss:
    """hidden (n, width), head weight (vocabulary, width), targets (n,), weights (n,) in fp32."""
    gradient = torch.empty_like(hidden)
    loss_sum = torch.zeros((), dtype=torch.float64, device=hidden.device)
    logprobs = torch.empty(hidden.shape[0], dtype=torch.float32, device=hidden.device)
    for start in range(0, hidden.shape[0], PIECE_ROWS):
        piece = slice(start, start + PIECE_ROWS)
        target = targets[piece].unsqueeze(1)
        share = (weights[piece] / weight_sum).unsqueeze(1)
        scores = torch.log_softmax(times_transposed(hidden[piece], weight).float(), dim=1)  # (piece, vocabulary)
        logprobs[piece] = scores.gather(1, target).squeeze(1)
        loss_sum -= (logprobs[piece] * weights[piece]).double().sum()
        scores.exp_().mul_(share).scatter_add_(1, target, -share)
        gradient[piece] = times(scores.to(hidden.dtype), weight)
    return HeadLoss(loss_sum, gradient, logprobs)


@torch.no_grad()
def head_logprobs(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    """Log-probabilities (n,) of `targets` (n,) after hidden states (n, width), in nats, without a gradient."""
    logprobs = torch.empty(hidden.shape[0], dtype=torch.float32, device=hidden.device)
    for start in range(0, hidden.shape[0], PIECE_ROWS):
        piece = slice(start, start + PIECE_ROWS)
        scores = torch.log_softmax(times_transposed(hidden[piece], weight).float(), dim=1)  # (piece, vocabulary)
        logprobs[piece] = scores.gather(1, targets[piece].unsqueeze(1)).squeeze(1)
    return logprobs
