"""The choice: free until it is committed, then final; without one the declared rule decides."""

from __future__ import annotations

import pytest

from rsibench.errors import LabError
from rsibench.gate.files import SubmissionFiles
from rsibench.journal.state import Decision, Phase, Stage
from rsibench.lab.core import Used
from rsibench.testing.clock import FakeClock
from rsibench.testing.lab import BUDGET, PRICING, LabBench, bench_files
from rsibench.units import Account


def attempts(bench: LabBench, *passed: int) -> None:
    """One scored attempt for each number of passes."""
    for number in passed:
        bench.session.submit(bench_files(f"text {len(bench.state().attempts)}"), f"k{len(bench.state().attempts)}")
        bench.finish_next(number)


def test_a_choice_may_be_changed_until_it_is_final(bench: LabBench) -> None:
    attempts(bench, 3, 5)
    assert bench.session.select(2).selection.attempt == 2
    assert not bench.session.select(None).selection.committed
    reply = bench.session.select(1, final=True)
    assert (reply.selection.attempt, reply.selection.committed, reply.selection.rule) == (1, True, "explicit")
    assert bench.state().phase is Phase.COMMITTED


def test_a_final_choice_may_be_repeated_but_not_changed(bench: LabBench) -> None:
    attempts(bench, 3, 5)
    first = bench.session.select(1, final=True)
    assert bench.session.select(1, final=True).selection == first.selection
    for attempt, final in ((2, True), (None, True), (1, False)):
        with pytest.raises(LabError) as refused:
            bench.session.select(attempt, final=final)
        assert refused.value.code == "closed"
    assert bench.session.commit("operator").attempt == 1


def test_only_a_scored_attempt_can_be_chosen(bench: LabBench) -> None:
    bench.session.submit(bench_files("a"), "k1")
    with pytest.raises(LabError) as refused:
        bench.session.select(1)
    assert refused.value.code == "not-scored"
    bench.session.failed(1, failure="out_of_memory", detail="killed")
    for attempt, code in ((1, "not-scored"), (2, "no-such-attempt")):
        with pytest.raises(LabError) as refused:
            bench.session.select(attempt, final=True)
        assert refused.value.code == code
    assert bench.state().phase is Phase.RESEARCHING


def test_without_a_choice_the_best_score_counts_the_earliest_of_equals(bench: LabBench) -> None:
    attempts(bench, 3, 6, 6, 5)
    committed = bench.session.commit("final-window")
    assert (committed.attempt, committed.rule, committed.reason) == (2, "best-selection-score-earliest", "final-window")


def test_without_a_scored_attempt_the_base_student_is_kept(bench: LabBench) -> None:
    bench.session.submit(bench_files("a"), "k1")
    committed = bench.session.commit("budget")
    assert (committed.attempt, committed.rule) == (None, "best-selection-score-earliest")


def test_an_explicit_choice_stands_against_a_better_score(bench: LabBench) -> None:
    attempts(bench, 3, 6)
    bench.session.select(None)
    committed = bench.session.commit("researcher-ended")
    assert (committed.attempt, committed.rule) == (None, "explicit")


def test_after_the_commitment_nothing_is_taken(bench: LabBench) -> None:
    attempts(bench, 3)
    bench.session.commit("operator")
    before = bench.ledger.balances()
    with pytest.raises(LabError) as refused:
        bench.session.submit(bench_files("late"), "late")
    assert refused.value.code == "closed"
    assert len(bench.state().submissions) == 1
    assert bench.ledger.balances() == before


def test_a_known_key_is_answered_also_after_the_commitment(bench: LabBench) -> None:
    attempts(bench, 3)
    bench.session.commit("operator")
    reply = bench.session.submit(bench_files("text 0"), "k0")
    assert (reply.attempt, reply.stage) == (1, Stage.SCORED)


def test_unfinished_attempts_are_cancelled_and_charged_what_they_used(bench: LabBench) -> None:
    for text in ("a", "b"):
        bench.session.submit(bench_files(text), text)
    bench.session.claim_next()
    bench.session.training_started(1)
    bench.session.used(1, Used(train_tokens=11))
    bench.session.commit("operator")
    state = bench.state()
    assert [attempt.stage for attempt in state.attempts.values()] == [Stage.CANCELLED, Stage.CANCELLED]
    assert state.balances[Account.TRAINING].spent == PRICING.training_micro_usd(11)
    assert all(balance.reserved == 0 for balance in state.balances.values())
    assert state.balances[Account.ATTEMPTS].available == BUDGET.attempts
    assert not bench.train(1)
    assert not bench.score(1, 5)


def test_the_wall_time_that_was_used_is_settled(bench: LabBench) -> None:
    clock = bench.clock
    assert isinstance(clock, FakeClock)
    clock.advance(123.5)
    bench.session.commit("operator")
    assert bench.state().balances[Account.WALL].spent == 123_500


def test_wall_time_beyond_the_limit_is_settled_at_the_limit(bench: LabBench) -> None:
    clock = bench.clock
    assert isinstance(clock, FakeClock)
    clock.advance(BUDGET.wall_seconds + 77)
    bench.session.commit("final-window")
    assert bench.state().balances[Account.WALL].spent == BUDGET.wall_seconds * 1_000


def test_closing_takes_no_new_submission_but_lets_admitted_ones_end(bench: LabBench) -> None:
    bench.session.submit(bench_files("a"), "a")
    bench.session.close_submissions()
    with pytest.raises(LabError) as refused:
        bench.session.submit(bench_files("b"), "b")
    assert refused.value.code == "closing"
    bench.finish_next(3)
    assert bench.state().attempts[1].stage is Stage.SCORED


def test_a_bad_submission_while_closing_is_still_told_its_problems(bench: LabBench) -> None:
    bench.session.close_submissions()
    with pytest.raises(Exception, match="refused for"):
        bench.session.submit(SubmissionFiles(b"x\n", None, b"h"), "b")
    assert bench.state().submissions[1].decision is Decision.REFUSED
