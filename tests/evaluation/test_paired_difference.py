"""Paired differences: the same items, with and without failures on either side."""

from __future__ import annotations

import pytest

from rsibench.errors import IntegrityError
from rsibench.evaluation.scoring import paired_difference
from rsibench.outcomes import TrialOutcome
from rsibench.spec.item import Trial
from rsibench.testing.trials import sum_item, trial_of

SYMBOLS = {"+": TrialOutcome.PASS, "-": TrialOutcome.FAIL, "?": TrialOutcome.INFRA_ERROR}


def trials(*items: str) -> list[Trial]:
    """One string an item, one sign a decode: + passed, - failed, ? infrastructure."""
    return [
        trial_of(sum_item(index), SYMBOLS[sign], decode)
        for index, signs in enumerate(items)
        for decode, sign in enumerate(signs)
    ]


def test_counts_changes_by_item() -> None:
    result = paired_difference(trials("-", "-", "+", "+", "-"), trials("+", "+", "+", "-", "-"))
    assert result.mean == pytest.approx(1 / 5)
    assert (result.improved, result.worsened, result.items, result.left_out) == (2, 1, 5, 0)
    assert result.bound_low == result.bound_high == pytest.approx(1 / 5)
    assert result.interval_low < 0 < result.interval_high
    assert result.p_value == 1.0


def test_a_large_gain_is_clear() -> None:
    base = trials(*["-"] * 60, *["+"] * 20)
    selected = trials(*["+"] * 50, *["-"] * 10, *["+"] * 18, *["-"] * 2)
    result = paired_difference(base, selected)
    assert result.mean == pytest.approx(0.6)
    assert result.interval_low > 0.4
    assert result.p_value < 1e-9


def test_decodes_are_averaged_within_items() -> None:
    result = paired_difference(trials("--++", "----"), trials("-+++", "++--"))
    assert result.mean == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert (result.improved, result.worsened) == (2, 0)


def test_items_without_a_counted_side_are_left_out_and_bounded() -> None:
    result = paired_difference(trials("-", "?", "+", "-"), trials("+", "+", "?", "-"))
    assert result.mean == pytest.approx(1 / 2)
    assert (result.items, result.left_out) == (2, 2)
    assert result.bound_low == pytest.approx((1 + 0 - 1 + 0) / 4)
    assert result.bound_high == pytest.approx((1 + 1 + 0 + 0) / 4)


def test_nothing_in_common_is_no_estimate() -> None:
    with pytest.raises(ValueError, match="no item has a counted decode on both sides"):
        paired_difference(trials("?", "-"), trials("+", "?"))


def test_the_method_says_which_test_it_was() -> None:
    assert "McNemar" in paired_difference(trials("+", "-"), trials("-", "-")).method
    assert "sign-flip" in paired_difference(trials("++", "--"), trials("-+", "--")).method


def test_swapping_the_sides_turns_everything_round() -> None:
    base, selected = trials("-", "+", "-", "?", "-", "+"), trials("+", "+", "+", "-", "-", "-")
    there, back = paired_difference(base, selected), paired_difference(selected, base)
    assert back.mean == pytest.approx(-there.mean)
    assert back.interval_high == pytest.approx(-there.interval_low)
    assert back.p_value == there.p_value
    assert (back.bound_low, back.bound_high) == (-there.bound_high, -there.bound_low)


def test_other_items_are_refused() -> None:
    with pytest.raises(IntegrityError, match="sums-0001"):
        paired_difference(trials("+", "-"), trials("+"))
    changed = [trial.model_copy(update={"item_digest": "0" * 64}) for trial in trials("+")]
    with pytest.raises(IntegrityError, match="sums-0000"):
        paired_difference(trials("+"), changed)
