"""Paired differences and their tests against published examples and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rsibench.analysis.mcnemar import mcnemar
from rsibench.analysis.paired import PairedMethod, bonett_price, paired_difference
from rsibench.analysis.sign_flip import sign_flip, sign_flip_drawn
from rsibench.analysis.task_counts import TaskCounts

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Heights of crossed less self-fertilised plants in eighths of an inch: Fisher (1935), section 21."""


def test_sign_flip_gives_fishers_count_for_darwins_plants() -> None:
    assert sign_flip(DARWIN).p_value == pytest.approx(1_726 / 2**15, abs=1e-12)


def test_drawn_flips_agree_with_all_flips() -> None:
    drawn = sign_flip_drawn(np.array(DARWIN) / 8, np.random.default_rng(1), draws=100_000)
    exact = sign_flip(DARWIN)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.004)
    assert drawn.mid_p == pytest.approx(exact.mid_p, abs=0.004)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 40))
def test_sign_flip_of_single_decodes_is_mcnemar(gained: int, lost: int, same: int) -> None:
    flips = sign_flip([1] * gained + [-1] * lost + [0] * same)
    expected = mcnemar(gained, lost)
    assert flips == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_is_the_binomial_test(gained: int, lost: int) -> None:
    expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar(gained, lost).p_value == pytest.approx(expected, abs=1e-9)


def test_mcnemar_mid_p_of_a_published_example() -> None:
    found = mcnemar(1, 7)  # the airway example of Fagerland, Lydersen and Laake (2013)
    assert found.p_value == pytest.approx(0.0703, abs=5e-5)
    assert found.mid_p == pytest.approx(0.0391, abs=5e-5)


def test_single_decodes_are_compared_task_by_task() -> None:
    before = TaskCounts.of([1] * 20 + [0] * 80, 1)
    after = TaskCounts.of([1] * 15 + [0] * 5 + [1] * 30 + [0] * 50, 1)
    found = paired_difference(before, after, np.random.default_rng(1))
    assert found.method is PairedMethod.SINGLE
    assert found.difference == pytest.approx(0.25)
    assert (found.gained, found.lost, found.tasks, found.left_out) == (30, 5, 100, 0)
    assert found.test == mcnemar(30, 5)
    assert found.interval == bonett_price(30, 5, 100)


def test_repeated_decodes_move_whole_tasks() -> None:
    rng = np.random.default_rng(2)
    before, after = rng.binomial(4, 0.3, size=50), rng.binomial(4, 0.5, size=50)
    found = paired_difference(TaskCounts.of(before, 4), TaskCounts.of(after, 4), rng)
    assert found.method is PairedMethod.CLUSTER
    assert found.difference == pytest.approx((after - before).mean() / 4)
    assert found.test == sign_flip(after - before)
    assert found.interval.low < found.difference < found.interval.high


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=20))
def test_swapping_sides_mirrors_everything(cells: list[tuple[int, int]]) -> None:
    one, two = (TaskCounts.of([cell[side] for cell in cells], 3) for side in (0, 1))
    there = paired_difference(one, two, np.random.default_rng(3), draws=200)
    back = paired_difference(two, one, np.random.default_rng(3), draws=200)
    assert back.difference == pytest.approx(-there.difference)
    assert back.test == there.test
    assert (back.gained, back.lost) == (there.lost, there.gained)


def test_tasks_of_one_side_only_are_counted_as_left_out() -> None:
    one = TaskCounts.of([1, 0, 1], [1, 1, 1], ["a", "b", "c"])
    two = TaskCounts.of([1, 1, 0], [1, 1, 0], ["b", "c", "d"])
    found = paired_difference(one, two, np.random.default_rng(4))
    assert (found.tasks, found.left_out, found.difference) == (2, 2, 0.5)
    with pytest.raises(ValueError, match="share no task"):
        paired_difference(one, TaskCounts.of([1], [1], ["z"]), np.random.default_rng(4))


def test_uneven_decodes_still_have_a_test() -> None:
    one = TaskCounts.of([1, 2, 0, 1], [2, 3, 4, 4])
    two = TaskCounts.of([2, 3, 2, 2], [4, 4, 4, 3])
    assert paired_difference(one, two, np.random.default_rng(5)).method is PairedMethod.CLUSTER
    sizes = np.array([11, 13, 17, 19])
    odd = paired_difference(
        TaskCounts.of(sizes // 2, sizes), TaskCounts.of(sizes // 3, sizes), np.random.default_rng(5)
    )
    assert odd.method is PairedMethod.DRAWN
    assert odd.test.p_value == pytest.approx(2 / 16, abs=0.02)


def test_no_change_at_all_is_not_proof_of_none() -> None:
    same = TaskCounts.of([2] * 10, 4)
    found = paired_difference(same, same, np.random.default_rng(6))
    assert found.method is PairedMethod.CONSTANT
    assert found.interval.low < -0.2
    assert found.interval.high > 0.2
    assert found.test.mid_p == 1.0
