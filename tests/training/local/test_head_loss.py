"""The loss at chosen positions, against torch's own cross-entropy and autograd."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rsibench.training.local import head_loss as module
from rsibench.training.local.head_loss import head_loss


@pytest.mark.parametrize("positions", [1, module.PIECE_ROWS, 2 * module.PIECE_ROWS + 7])
def test_loss_and_gradient_are_those_of_cross_entropy(positions: int) -> None:
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(positions, 24, generator=generator, requires_grad=True)
    weight = torch.randn(50, 24, generator=generator)
    targets = torch.randint(50, (positions,), generator=generator)
    weights = torch.rand(positions, generator=generator) + 0.1
    weight_sum = float(weights.sum())
    expected = (nn.functional.cross_entropy(hidden @ weight.t(), targets, reduction="none") * weights).sum()
    (expected / weight_sum).backward()  # type: ignore[no-untyped-call]  # untyped in torch
    found = head_loss(hidden.detach(), weight, targets, weights, weight_sum)
    assert found.loss_sum.item() == pytest.approx(expected.item(), rel=1e-5)
    assert hidden.grad is not None
    torch.testing.assert_close(found.gradient, hidden.grad, rtol=1e-4, atol=1e-7)


def test_a_certain_wrong_answer_has_a_finite_loss() -> None:
    hidden = torch.tensor([[200.0, 0.0]])
    weight = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    found = head_loss(hidden, weight, torch.tensor([1]), torch.ones(1), 1.0)
    assert found.loss_sum.item() == pytest.approx(400.0)
