"""Selection optimism and its corrections."""

from __future__ import annotations

import numpy as np
import pytest

from rsibench.analysis.optimism import bootstrap_optimism, expected_best_of, shrunken, split_corrected


def test_best_of_two_single_flips_by_hand() -> None:
    assert expected_best_of(2, 0.3, 1) == pytest.approx(0.3 * 0.7)


def test_best_of_many_agrees_with_simulation() -> None:
    best = np.random.default_rng(1).binomial(100, 0.2, size=(60_000, 5)).max(axis=1).mean() / 100
    assert expected_best_of(5, 0.2, 100) == pytest.approx(best - 0.2, abs=0.0005)
    assert expected_best_of(1, 0.2, 100) == pytest.approx(0.0, abs=1e-12)


def test_splitting_takes_the_luck_out_of_equal_attempts() -> None:
    rng = np.random.default_rng(2)
    found = [split_corrected(rng.binomial(1, 0.4, size=(5, 100)).astype(float), rng, 200) for _ in range(300)]
    assert np.mean([one.naive for one in found]) == pytest.approx(0.4 + expected_best_of(5, 0.4, 100), abs=0.008)
    assert np.mean([one.corrected for one in found]) == pytest.approx(0.4, abs=0.008)


def test_splitting_leaves_a_clear_winner_alone() -> None:
    rates = np.stack([np.zeros(60), np.tile([0.0, 1.0], 30)])
    found = split_corrected(rates, np.random.default_rng(3))
    assert found.chosen == 1
    assert found.corrected == pytest.approx(0.5, abs=0.01)


def test_one_attempt_has_no_optimism() -> None:
    rates = np.random.default_rng(4).random((1, 20))
    assert split_corrected(rates, np.random.default_rng(4)).optimism == 0.0
    assert shrunken(rates[:, 0], np.array([0.01])).optimism == 0.0
    with pytest.raises(ValueError, match="at least two tasks"):
        split_corrected(np.ones((2, 1)), np.random.default_rng(4))


def test_shrinkage_by_hand() -> None:
    # variance of the scores 0.01, of measurement 0.0025: three quarters of the distance to the mean are kept
    scores = np.array([0.3, 0.4, 0.5])
    found = shrunken(scores, np.full(3, 0.0025))
    assert found.corrected == pytest.approx(0.4 + 0.75 * 0.1)
    assert shrunken(scores, np.full(3, 0.02)).corrected == pytest.approx(0.4)


def test_bootstrap_optimism_of_equal_attempts_is_that_of_the_maximum() -> None:
    rng = np.random.default_rng(5)
    gaps = [bootstrap_optimism(rng.binomial(1, 0.4, size=(4, 100)).astype(float), rng, 200)[0] for _ in range(150)]
    assert np.mean(gaps) == pytest.approx(expected_best_of(4, 0.4, 100), rel=0.35)
