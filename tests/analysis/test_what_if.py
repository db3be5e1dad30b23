"""Replays: what a rule makes and selects, and that its worth carries no luck of the choice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsibench.analysis.what_if import (
    Best,
    BudgetShare,
    Corrected,
    First,
    Ladder,
    Last,
    Replay,
    Rule,
    StopAfter,
    StopAt,
    replay,
)


def _one(rates: list[list[float]], base: list[float], rule: Rule, spent: list[float] | None = None) -> Replay:
    table = np.array(rates)
    used = np.array(spent if spent is not None else np.arange(1, len(table) + 1), dtype=np.float64)
    return replay(table, np.array(base), used, [rule], np.random.default_rng(0))[0]


FLAT = [[0.0] * 8, [1.0] * 8, [0.5] * 8, [0.75] * 8]
"""Four attempts that score the same on every task, so that every split sees the same order."""
BASE = [0.25] * 8


@pytest.mark.parametrize(
    ("rule", "worth", "attempts"),
    [
        (Best(), 1.0, 4),
        (First(), 0.0, 1),
        (Last(), 0.75, 4),
        (StopAt(attempts=1), 0.0, 1),
        (StopAt(attempts=9), 1.0, 4),
        (StopAfter(without_best=1), 1.0, 3),
        (StopAfter(without_best=2), 1.0, 4),
        (Ladder(step=0.6), 1.0, 4),
        (Ladder(step=0.8), 0.25, 4),
        (Corrected(), 1.0, 4),
    ],
)
def test_rules_by_hand(rule: Rule, worth: float, attempts: int) -> None:
    found = _one(FLAT, BASE, rule)
    assert found.worth == pytest.approx(worth)
    assert found.attempts == attempts
    assert found.gain == pytest.approx(worth - 0.25)
    assert found.regret == pytest.approx(1.0 - worth)


def test_a_budget_share_makes_what_was_scored_by_then() -> None:
    found = _one(FLAT, BASE, BudgetShare(share=0.5), spent=[1, 5, 6, 10])
    assert (found.attempts, found.share_spent) == (2, 0.5)
    assert _one(FLAT, BASE, BudgetShare(share=0.05), spent=[1, 5, 6, 10]).attempts == 1


def test_the_best_of_equal_attempts_is_worth_no_more_than_any_of_them() -> None:
    """The naive best of eight equal attempts is several points too high; its worth on other tasks is not."""
    rng = np.random.default_rng(7)
    worth, naive = [], []
    for _ in range(200):
        rates = (rng.random((8, 60)) < 0.4).astype(np.float64)
        base = (rng.random(60) < 0.4).astype(np.float64)
        worth.append(replay(rates, base, np.arange(1.0, 9.0), [Best()], rng, splits=40)[0].worth)
        naive.append(rates.mean(axis=1).max())
    standard_error = np.std(worth) / np.sqrt(len(worth))
    assert abs(np.mean(worth) - 0.4) < 4 * standard_error
    assert np.mean(naive) > 0.45


def test_shrinking_keeps_base_where_the_best_of_many_is_luck() -> None:
    rng = np.random.default_rng(8)
    kept = {"best": 0.0, "corrected": 0.0}
    for _ in range(40):
        rates = (rng.random((8, 60)) < 0.35).astype(np.float64)
        base = (rng.random(60) < 0.45).astype(np.float64)
        best, corrected = replay(rates, base, np.arange(1.0, 9.0), [Best(), Corrected()], rng, splits=40)
        kept["best"] += best.kept_base / 40
        kept["corrected"] += corrected.kept_base / 40
    assert kept["best"] == 0
    assert kept["corrected"] > 0.5


@given(attempts=st.integers(1, 6), tasks=st.integers(2, 30), seed=st.integers(0, 99))
def test_stopping_at_all_is_best_and_worth_lies_on_the_scale(attempts: int, tasks: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rates, base = rng.random((attempts, tasks)), rng.random(tasks)
    spent = np.cumsum(rng.random(attempts))
    rules: list[Rule] = [Best(), StopAt(attempts=attempts), Ladder(step=0.0), Corrected(), BudgetShare(share=1.0)]
    found = replay(rates, base, spent, rules, rng, splits=20)
    assert found[0][1:] == found[1][1:] == found[4][1:]
    assert all(0 <= one.worth <= 1 for one in found)
    assert found[2].worth >= 0


def test_what_cannot_be_replayed_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two tasks"):
        _one([[1.0]], [0.0], Best())
