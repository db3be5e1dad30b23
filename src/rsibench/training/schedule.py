"""The learning rate of every step: a linear warm-up to the peak, then a straight line down to a fraction of it.

It is a pure function of the step's number, so a hosted and a local trainer are driven alike. It is not an optimiser.
"""

from __future__ import annotations

from rsibench.ports.trainer import AdamParams
from rsibench.spec.recipe import Optimizer


def learning_rate_factor(step: int, steps: int, optimizer: Optimizer) -> float:
    """Share of the peak learning rate at `step` (0-based) of `steps`, in (0, 1].

    The first floor(warmup_fraction * steps) steps rise, ending just below the peak; the step after them is at the peak
    and the last one at `final_learning_rate_fraction` of it.
    """
    if not 0 <= step < steps:
        raise ValueError(f"step {step} is not one of {steps}")
    warmup = int(optimizer.warmup_fraction * steps)
    if step < warmup:
        return (step + 1) / (warmup + 1)
    falling = steps - 1 - warmup
    fallen = (step - warmup) / falling if falling > 0 else 0.0
    return 1.0 - (1.0 - optimizer.final_learning_rate_fraction) * fallen


def adam_for(step: int, steps: int, peak_learning_rate: float, optimizer: Optimizer) -> AdamParams:
    """AdamW's settings for `step` (0-based) of `steps`."""
    return AdamParams(
        learning_rate=peak_learning_rate * learning_rate_factor(step, steps, optimizer),
        beta1=optimizer.beta1,
        beta2=optimizer.beta2,
        eps=optimizer.eps,
        weight_decay=optimizer.weight_decay,
    )
