"""The plan of steps: what is in every batch, and the account of tokens."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsibench.errors import SpecError
from rsibench.testing.training import tiny_config, tiny_recipe
from rsibench.training.batches import WINDOW_ROWS, epoch_batches
from rsibench.training.plan import plan_steps

LENGTHS = st.lists(st.integers(2, 64), min_size=1, max_size=600)


@given(lengths=LENGTHS, batch_tokens=st.integers(64, 512), seed=st.integers(0, 2**63 - 1))
def test_an_epoch_holds_every_row_once_within_the_token_limit(lengths: list[int], batch_tokens: int, seed: int) -> None:
    batches = epoch_batches(lengths, batch_tokens, random.Random(seed))
    assert Counter(index for batch in batches for index in batch) == Counter(range(len(lengths)))
    assert all(len(batch) * max(lengths[index] for index in batch) <= batch_tokens for batch in batches)


@given(lengths=LENGTHS, epochs=st.integers(1, 4), seed=st.integers(0, 2**63 - 1))
def test_tokens_are_epochs_times_rows_and_padding_is_apart(lengths: list[int], epochs: int, seed: int) -> None:
    plan = plan_steps(lengths, tiny_recipe(max_train_tokens=10**9), tiny_config(epochs=epochs), seed)
    assert plan.train_tokens == epochs * sum(lengths)
    assert plan.padded_tokens >= plan.train_tokens
    assert Counter(index for batch in plan.batches for index in batch) == {row: epochs for row in range(len(lengths))}
    assert plan == plan_steps(lengths, tiny_recipe(max_train_tokens=10**9), tiny_config(epochs=epochs), seed)


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    lengths = [10 + place % 50 for place in range(400)]
    plan = plan_steps(lengths, tiny_recipe(), tiny_config(epochs=2), 1)
    half = plan.steps // 2
    assert plan.batches[:half] != plan.batches[half:]
    assert plan.batches != plan_steps(lengths, tiny_recipe(), tiny_config(epochs=2), 2).batches


def test_padding_is_small_on_rows_of_many_lengths() -> None:
    rng = random.Random(3)
    lengths = [rng.randint(20, 120) for _ in range(2 * WINDOW_ROWS)]
    plan = plan_steps(lengths, tiny_recipe(batch_tokens=1024, max_train_tokens=10**6), tiny_config(), 0)
    assert plan.padded_tokens < 1.1 * plan.train_tokens


def test_batches_of_one_family_do_not_follow_one_another() -> None:
    # Two families told apart by length: bucketing gives pure batches, so their order has to mix them.
    lengths = [10] * 256 + [60] * 256
    plan = plan_steps(lengths, tiny_recipe(batch_tokens=128, max_train_tokens=10**6), tiny_config(), 5)
    families = [lengths[batch[0]] for batch in plan.batches]
    longest = max(len(run) for run in "".join("a" if family == 10 else "b" for family in families).split("a"))
    expected_if_sorted = families.count(60)
    assert longest < expected_if_sorted / 3


def test_a_row_that_fits_in_no_batch_is_refused_by_number() -> None:
    with pytest.raises(SpecError, match="row 2 has 129 tokens"):
        plan_steps([10, 129], tiny_recipe(batch_tokens=128), tiny_config(), 0)


def test_more_tokens_than_the_budget_are_refused() -> None:
    with pytest.raises(SpecError, match="are 120"):
        plan_steps([30, 30], tiny_recipe(max_train_tokens=119), tiny_config(epochs=2), 0)


def test_no_rows_are_refused() -> None:
    with pytest.raises(SpecError, match="no rows"):
        plan_steps([], tiny_recipe(), tiny_config(), 0)
