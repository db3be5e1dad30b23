"""The learning rate's shape, as properties."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsibench.spec.recipe import Optimizer
from rsibench.training.schedule import adam_for, learning_rate_factor


def optimizer(warmup: float, final: float) -> Optimizer:
    return Optimizer(
        beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1, warmup_fraction=warmup, final_learning_rate_fraction=final
    )


SHARES = st.floats(min_value=0, max_value=1)


@given(steps=st.integers(1, 300), warmup=SHARES, final=SHARES)
def test_it_rises_then_falls_and_never_leaves_its_range(steps: int, warmup: float, final: float) -> None:
    settings = optimizer(warmup, final)
    factors = [learning_rate_factor(step, steps, settings) for step in range(steps)]
    top = factors.index(max(factors))
    assert factors[:top] == sorted(factors[:top])
    assert factors[top:] == sorted(factors[top:], reverse=True)
    assert all(0 <= factor <= 1 for factor in factors)
    assert factors[0] > 0 or final == 0


@given(steps=st.integers(3, 300), warmup=st.floats(min_value=0, max_value=0.5), final=SHARES)
def test_it_reaches_the_peak_and_ends_at_the_stated_share(steps: int, warmup: float, final: float) -> None:
    settings = optimizer(warmup, final)
    factors = [learning_rate_factor(step, steps, settings) for step in range(steps)]
    assert max(factors) == 1.0
    assert factors[-1] == pytest.approx(final)


@given(steps=st.integers(5, 300), final=SHARES)
def test_the_fall_is_a_straight_line(steps: int, final: float) -> None:
    factors = [learning_rate_factor(step, steps, optimizer(0.0, final)) for step in range(steps)]
    drops = [before - after for before, after in pairwise(factors)]
    assert drops == pytest.approx([(1 - final) / (steps - 1)] * (steps - 1))


def test_a_step_outside_the_training_is_refused() -> None:
    with pytest.raises(ValueError, match="step 7"):
        learning_rate_factor(7, 7, optimizer(0.0, 0.0))


def test_the_optimisers_settings_are_passed_on() -> None:
    adam = adam_for(0, 1, 0.02, optimizer(0.0, 0.5))
    assert (adam.learning_rate, adam.beta1, adam.beta2, adam.eps, adam.weight_decay) == (0.02, 0.9, 0.95, 1e-8, 0.1)
