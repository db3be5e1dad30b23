"""Scores: what counts, what is withheld and what the bounds say."""

from __future__ import annotations

import pytest

from rsibench.errors import IntegrityError
from rsibench.evaluation.scoring import score_trials
from rsibench.outcomes import TrialOutcome
from rsibench.spec.item import Trial
from rsibench.testing.trials import sum_item, trial_of

PASS, FAIL, NONE = TrialOutcome.PASS, TrialOutcome.FAIL, TrialOutcome.NO_ANSWER
TIMEOUT, INFRA, INVALID = TrialOutcome.AGENT_TIMEOUT, TrialOutcome.INFRA_ERROR, TrialOutcome.INVALID


def trials(*items: list[TrialOutcome], family: str = "sums") -> list[Trial]:
    """One list of outcomes an item, one outcome a decode."""
    return [
        trial_of(sum_item(index, family), outcome, decode)
        for index, outcomes in enumerate(items)
        for decode, outcome in enumerate(outcomes)
    ]


def test_wrong_silent_and_late_answers_all_count_as_zero() -> None:
    score = score_trials(trials([PASS], [FAIL], [NONE], [TIMEOUT]), coverage_gate=1.0)
    assert (score.rate, score.passed, score.counted, score.total, score.coverage) == (0.25, 1, 4, 4, 1.0)
    assert (score.bound_low, score.bound_high) == (0.25, 0.25)


def test_infrastructure_failures_widen_the_bounds_and_are_no_zeros() -> None:
    score = score_trials(trials([PASS], [PASS], [FAIL], [INFRA], [INVALID]), coverage_gate=0.5)
    assert score.rate == pytest.approx(2 / 3)
    assert (score.counted, score.total, score.coverage) == (3, 5, 0.6)
    assert [score.bound_low, score.bound_high] == pytest.approx([2 / 5, 4 / 5])
    assert score.outcomes == {"pass": 2, "fail": 1, "no_answer": 0, "agent_timeout": 0, "infra_error": 1, "invalid": 1}


def test_below_the_gate_there_is_no_rate_but_there_are_bounds() -> None:
    some = trials([PASS], [PASS], [INFRA])
    withheld = score_trials(some, coverage_gate=0.95)
    assert (withheld.rate, withheld.interval_low, withheld.interval_high) == (None, None, None)
    assert [withheld.bound_low, withheld.bound_high] == pytest.approx([2 / 3, 1.0])
    assert score_trials(some, coverage_gate=2 / 3).rate == 1.0


def test_nothing_counted_is_withheld_even_without_a_gate() -> None:
    score = score_trials(trials([INFRA], [INVALID]), coverage_gate=0.0)
    assert (score.rate, score.coverage, score.bound_low, score.bound_high) == (None, 0.0, 0.0, 1.0)


def test_the_item_is_the_unit_however_many_of_its_decodes_count() -> None:
    score = score_trials(trials([PASS, INFRA, INFRA, INFRA], [FAIL, FAIL, FAIL, PASS]), coverage_gate=0.0)
    assert score.rate == pytest.approx((1 + 1 / 4) / 2)
    assert [score.bound_low, score.bound_high] == pytest.approx([1 / 4, 5 / 8])


def test_families_are_counted_apart() -> None:
    mixed = trials([PASS], [INFRA], family="b") + trials([FAIL], [PASS], family="a")
    score = score_trials(mixed, coverage_gate=0.0)
    assert [(one.family, one.passed, one.counted, one.total) for one in score.families] == [
        ("a", 1, 2, 2),
        ("b", 1, 1, 2),
    ]


def test_tokens_are_summed_over_all_trials() -> None:
    some = [trial_of(sum_item(i), PASS, prompt_tokens=10 * i, output_tokens=i) for i in range(1, 4)]
    score = score_trials([*some, trial_of(sum_item(9), INFRA, prompt_tokens=5, output_tokens=0)], coverage_gate=0.0)
    assert (score.prompt_tokens, score.output_tokens) == (65, 6)


def test_the_same_decode_twice_is_refused() -> None:
    with pytest.raises(IntegrityError, match="decode 0 of item sums-0000 occurs twice"):
        score_trials(trials([PASS]) + trials([FAIL]), coverage_gate=0.0)


def test_no_trials_are_no_score() -> None:
    with pytest.raises(ValueError, match="no trials"):
        score_trials([], coverage_gate=0.0)
