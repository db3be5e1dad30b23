"""Properties of scores: order does not matter, bounds hold, failures are never zeros, gains are antisymmetric."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from rsibench.evaluation.scoring import paired_difference, score_trials
from rsibench.outcomes import TRIAL_RULES, TrialOutcome
from rsibench.spec.item import Trial
from rsibench.testing.trials import sum_item, trial_of

outcomes = st.sampled_from(list(TrialOutcome))
splits = st.lists(st.lists(outcomes, min_size=1, max_size=4), min_size=1, max_size=12)


def trials_of(split: list[list[TrialOutcome]]) -> list[Trial]:
    return [
        trial_of(sum_item(index, family=f"family {index % 3}"), outcome, decode)
        for index, decodes in enumerate(split)
        for decode, outcome in enumerate(decodes)
    ]


@given(split=splits, data=st.data(), gate=st.sampled_from([0.0, 0.5, 0.95]))
def test_a_score_does_not_depend_on_the_order_of_its_trials(
    split: list[list[TrialOutcome]], data: st.DataObject, gate: float
) -> None:
    trials = trials_of(split)
    assert score_trials(data.draw(st.permutations(trials)), gate) == score_trials(trials, gate)


@given(split=splits, gate=st.floats(0, 1))
def test_rates_stay_within_interval_bounds_and_gate(split: list[list[TrialOutcome]], gate: float) -> None:
    score = score_trials(trials_of(split), gate)
    assert 0 <= score.bound_low <= score.bound_high <= 1
    assert score.passed <= score.counted <= score.total == sum(score.outcomes.values())
    assert sum(family.total for family in score.families) == score.total
    if score.rate is None:
        assert score.coverage < gate or score.counted == 0
        assert score.interval_low is None
        return
    assert score.coverage >= gate
    assert score.interval_low is not None
    assert score.interval_high is not None
    assert score.bound_low - 1e-12 <= score.rate <= score.bound_high + 1e-12
    assert 0 <= score.interval_low <= score.rate <= score.interval_high <= 1


@given(split=splits)
def test_what_does_not_count_moves_the_rate_into_the_bounds_only(split: list[list[TrialOutcome]]) -> None:
    """Replacing every uncounted trial by a wrong, then by a right one gives exactly the bounds."""
    score = score_trials(trials_of(split), 0.0)

    def settled(as_if: TrialOutcome) -> float | None:
        filled = [[one if TRIAL_RULES[one].counts else as_if for one in decodes] for decodes in split]
        return score_trials(trials_of(filled), 0.0).rate

    assert settled(TrialOutcome.FAIL) == score.bound_low
    assert settled(TrialOutcome.PASS) == score.bound_high


@given(split=splits, data=st.data())
def test_gains_are_antisymmetric_and_bounded(split: list[list[TrialOutcome]], data: st.DataObject) -> None:
    other = [data.draw(st.lists(outcomes, min_size=len(one), max_size=len(one))) for one in split]
    sides = zip(split, other, strict=True)
    assume(any(some_count(left) and some_count(right) for left, right in sides))
    there = paired_difference(trials_of(split), trials_of(other))
    back = paired_difference(trials_of(other), trials_of(split))
    assert (there.mean, there.p_value, there.left_out) == (-back.mean, back.p_value, back.left_out)
    assert (there.bound_low, there.bound_high) == (-back.bound_high, -back.bound_low)
    assert there.left_out or there.bound_low - 1e-12 <= there.mean <= there.bound_high + 1e-12
    assert -1 <= there.interval_low <= there.mean <= there.interval_high <= 1
    assert there.improved + there.worsened <= there.items == len(split) - there.left_out


def some_count(decodes: list[TrialOutcome]) -> bool:
    return any(TRIAL_RULES[one].counts for one in decodes)
