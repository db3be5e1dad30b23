"""A linear map whose weight never changes: no gradient for it, and the quicker product in both directions.

It takes the place of every frozen `nn.Linear` of the student, the ones inside LoRA layers included, and keeps their
weight tensor as it is. Where its input needs no gradient (below the lowest trained layer) it leaves no graph behind.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from rsibench.training.local.products import times, times_transposed


class _FrozenProduct(torch.autograd.Function):
    """y = x W^T with a gradient for x only."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(weight)
        return times_transposed(inputs, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (weight,) = ctx.saved_tensors
        return times(gradients[0].contiguous(), weight), None


class FrozenLinear(nn.Module):
    """`weight` (out, in) and an optional bias of a frozen layer."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features = linear.in_features
        self.out_features = linear.out_features
        self.weight = linear.weight
        self.bias = linear.bias

    def forward(self, inputs: Tensor) -> Tensor:
        """inputs (..., in) to (..., out)."""
        flat = inputs.reshape(-1, self.in_features)
        product: Tensor = _FrozenProduct.apply(flat, self.weight)
        if self.bias is not None:
            product = product + self.bias
        return product.view(*inputs.shape[:-1], self.out_features)


def freeze_linears(module: nn.Module) -> int:
    """Replaces every frozen `nn.Linear` below `module` in place; returns how many."""
    replaced = 0
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Linear and not child.weight.requires_grad:
                setattr(parent, name, FrozenLinear(child))
                replaced += 1
    return replaced
