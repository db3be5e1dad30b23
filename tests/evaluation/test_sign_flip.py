"""The sign-flip test against brute force and against the exact McNemar test."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from rsibench.evaluation.sign_flip import sign_flip_p_value

changes = st.builds(Fraction, st.integers(-3, 3), st.sampled_from([1, 2, 3, 4]))


@given(st.lists(changes, max_size=9))
def test_equals_the_share_of_flips_at_least_as_extreme(differences: list[Fraction]) -> None:
    observed = abs(sum(differences, Fraction(0)))
    flips = [
        abs(sum((sign * one for sign, one in zip(signs, differences, strict=True)), Fraction(0)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    expected = sum(flip >= observed for flip in flips) / len(flips)
    assert sign_flip_p_value(differences) == pytest.approx(expected)


@given(improved=st.integers(0, 300), worsened=st.integers(0, 300), unchanged=st.integers(0, 300))
def test_single_decodes_give_the_exact_mcnemar_test(improved: int, worsened: int, unchanged: int) -> None:
    differences = [Fraction(1)] * improved + [Fraction(-1)] * worsened + [Fraction(0)] * unchanged
    discordant = improved + worsened
    expected = binomtest(improved, discordant, 0.5).pvalue if discordant else 1.0
    assert sign_flip_p_value(differences) == pytest.approx(expected)


@given(st.lists(changes, max_size=40), st.randoms())
def test_neither_order_nor_direction_matters(differences: list[Fraction], source: object) -> None:
    mirrored = [-one for one in reversed(differences)]
    assert sign_flip_p_value(mirrored) == sign_flip_p_value(differences)
