"""Which beginnings are read once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rsibench.sampling.local.prefix import SHORTEST_PREFIX, reading_order, shared_prefix

PROMPTS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=30).map(tuple), min_size=1, max_size=12)


@given(PROMPTS)
def test_a_shared_prefix_is_shared_and_leaves_every_prompt_a_token(prompts: list[tuple[int, ...]]) -> None:
    length = shared_prefix(prompts)
    assert len({prompt[:length] for prompt in prompts}) == 1
    assert all(len(prompt) > length for prompt in prompts)
    assert length == 0 or length >= SHORTEST_PREFIX


@given(PROMPTS)
def test_the_reading_order_is_a_permutation_by_length(prompts: list[tuple[int, ...]]) -> None:
    order = reading_order(prompts)
    assert sorted(order) == list(range(len(prompts)))
    read = [prompts[index] for index in order]
    assert [len(prompt) for prompt in read] == sorted(len(prompt) for prompt in prompts)


def test_a_long_common_beginning_is_found() -> None:
    system = tuple(range(20))
    assert shared_prefix([(*system, 1, 2), (*system, 3), (*system, 3, 4)]) == 20


def test_a_prompt_that_is_the_common_beginning_keeps_its_last_token() -> None:
    system = tuple(range(20))
    assert shared_prefix([system, (*system, 1)]) == 19


def test_one_prompt_shares_with_nobody() -> None:
    assert shared_prefix([tuple(range(50))]) == 0
