"""The frozen product against torch's own linear layer."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rsibench.training.local.frozen_linear import FrozenLinear, freeze_linears


@pytest.mark.parametrize("bias", [False, True])
def test_it_computes_what_a_linear_layer_computes(bias: bool) -> None:
    torch.manual_seed(0)
    linear = nn.Linear(12, 20, bias=bias).requires_grad_(False)
    inputs = torch.randn(3, 5, 12, requires_grad=True)
    twin = inputs.detach().clone().requires_grad_(True)
    upstream = torch.randn(3, 5, 20)
    frozen, ordinary = FrozenLinear(linear)(inputs), linear(twin)
    frozen.backward(upstream)
    ordinary.backward(upstream)
    torch.testing.assert_close(frozen, ordinary)
    assert inputs.grad is not None
    torch.testing.assert_close(inputs.grad, twin.grad)
    assert linear.weight.grad is None


def test_no_graph_is_left_where_no_gradient_is_needed() -> None:
    linear = nn.Linear(4, 4).requires_grad_(False)
    assert FrozenLinear(linear)(torch.randn(2, 4)).grad_fn is None


def test_only_frozen_layers_are_replaced() -> None:
    module = nn.Sequential(nn.Linear(4, 4).requires_grad_(False), nn.Sequential(nn.Linear(4, 4)))
    assert freeze_linears(module) == 1
    assert isinstance(module[0], FrozenLinear)
