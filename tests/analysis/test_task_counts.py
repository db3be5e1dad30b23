"""Tasks from arrays and from trials, and what missing trials could hide."""

from __future__ import annotations

import numpy as np
import pytest

from rsibench.analysis.coverage_bounds import coverage, coverage_bounds, with_sampling
from rsibench.analysis.proportion import wilson
from rsibench.analysis.task_counts import TaskCounts
from rsibench.outcomes import TrialOutcome
from rsibench.spec.item import Trial, Verdict


def trial(item: str, decode: int, outcome: TrialOutcome) -> Trial:
    return Trial(
        item_id=item,
        item_digest="0" * 64,
        family="sums",
        template="plain",
        decode=decode,
        prompt_digest="0" * 64,
        output="",
        finish_reason=None,
        prompt_tokens=0,
        output_tokens=0,
        verdict=Verdict(outcome=outcome),
    )


TRIALS = [
    trial("b", 0, TrialOutcome.PASS),
    trial("b", 1, TrialOutcome.INFRA_ERROR),
    trial("a", 0, TrialOutcome.FAIL),
    trial("a", 1, TrialOutcome.PASS),
    trial("c", 0, TrialOutcome.INVALID),
    trial("c", 1, TrialOutcome.INFRA_ERROR),
    trial("d", 0, TrialOutcome.NO_ANSWER),
    trial("d", 1, TrialOutcome.AGENT_TIMEOUT),
]


def test_trials_are_counted_by_the_table_of_outcomes() -> None:
    counts = TaskCounts.of_trials(TRIALS)
    assert counts.task_ids == ("a", "b", "c", "d")
    assert counts.passed.tolist() == [1, 1, 0, 0]
    assert counts.counted.tolist() == [2, 1, 0, 2]
    assert counts.total.tolist() == [2, 2, 2, 2]
    assert np.allclose(counts.rates(), [0.5, 1.0, np.nan, 0.0], equal_nan=True)


def test_bounds_fill_missing_trials_with_failures_and_passes() -> None:
    counts = TaskCounts.of_trials(TRIALS)
    assert coverage(counts) == 5 / 8
    assert coverage_bounds(counts) == pytest.approx(((0.5 + 0.5 + 0 + 0) / 4, (0.5 + 1 + 1 + 0) / 4))
    inner, outer = coverage_bounds(counts), with_sampling(counts)
    assert outer.low < inner.low
    assert outer.high > inner.high


def test_without_missing_trials_the_bounds_are_the_rate_and_its_interval() -> None:
    counts = TaskCounts.of([1] * 30 + [0] * 70, 1)
    assert coverage_bounds(counts) == pytest.approx((0.3, 0.3))
    assert with_sampling(counts) == pytest.approx(wilson(30, 100))


def test_order_does_not_matter() -> None:
    assert TaskCounts.of([0, 2], [2, 2], ["z", "a"]).passed.tolist() == [2, 0]


@pytest.mark.parametrize(("passed", "ids"), [([3], ["a"]), ([1, 1], ["a", "a"]), ([-1], ["a"])])
def test_impossible_counts_are_refused(passed: list[int], ids: list[str]) -> None:
    with pytest.raises(ValueError, match=r"passed must lie|different ids"):
        TaskCounts.of(passed, 2, ids)
