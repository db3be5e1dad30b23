"""What becomes of a submission: admitted, repeated or refused, and what that costs."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path

import pytest

from rsibench.errors import BudgetExceeded, LabError, SubmissionRefused, UnknownPrice
from rsibench.gate.files import SubmissionFiles
from rsibench.journal.state import Decision, Stage
from rsibench.lab.core import Used
from rsibench.lab.replies import SubmissionOutcome, SubmitReply
from rsibench.spec.prices import ModelPrice
from rsibench.testing.clock import FakeClock
from rsibench.testing.lab import BUDGET, PRICING, LabBench, bench_files
from rsibench.units import Account


def spent(bench: LabBench) -> int:
    return sum(
        balance.spent + balance.reserved
        for account, balance in bench.state().balances.items()
        if account != Account.WALL
    )


def test_an_admitted_submission_reserves_training_worst_case_sampling_and_one_attempt(bench: LabBench) -> None:
    reply = bench.session.submit(bench_files("one", "two"), "k1")
    assert (reply.submission, reply.attempt, reply.outcome) == (1, 1, SubmissionOutcome.ADMITTED)
    balances = bench.ledger.balances()
    assert balances[Account.TRAINING].reserved == PRICING.training_micro_usd(reply.train_tokens)
    assert balances[Account.SAMPLING].reserved == PRICING.sampling_micro_usd(*bench.terms.evaluation)
    assert balances[Account.ATTEMPTS].reserved == 1
    assert reply.left.attempts == BUDGET.attempts - 1
    assert reply.left.training_usd == balances[Account.TRAINING].available / 1_000_000


def test_a_score_settles_what_was_used_and_returns_the_rest(bench: LabBench) -> None:
    reply = bench.session.submit(bench_files("one"), "k1")
    bench.finish_next(5)
    balances = bench.ledger.balances()
    score = bench.state().attempts[1].score
    assert score is not None
    assert balances[Account.TRAINING].spent == PRICING.training_micro_usd(reply.train_tokens)
    assert balances[Account.SAMPLING].spent == PRICING.sampling_micro_usd(score.prompt_tokens, score.output_tokens)
    assert balances[Account.ATTEMPTS].spent == 1
    assert all(balance.reserved == 0 for account, balance in balances.items() if account is not Account.WALL)


def test_the_same_key_and_bytes_have_one_effect_and_one_answer(bench: LabBench) -> None:
    first = bench.session.submit(bench_files("one"), "k1")
    events = bench.journal.head().seq
    assert bench.session.submit(bench_files("one"), "k1") == first
    assert bench.journal.head().seq == events


def test_a_key_is_not_taken_for_other_bytes(bench: LabBench) -> None:
    bench.session.submit(bench_files("one"), "k1")
    with pytest.raises(LabError) as refused:
        bench.session.submit(bench_files("two"), "k1")
    assert (refused.value.code, refused.value.status) == ("key-reused", 409)
    assert len(bench.state().submissions) == 1


@pytest.mark.parametrize("key", ["", "a b", "x" * 129, "a~2", "é"])
def test_a_key_has_a_plain_form(bench: LabBench, key: str) -> None:
    with pytest.raises(LabError) as refused:
        bench.session.submit(bench_files("one"), key)
    assert refused.value.code == "bad-key"
    assert not bench.state().submissions


def test_equal_rows_and_resolved_configuration_are_a_replicate_that_costs_nothing(bench: LabBench) -> None:
    bench.session.submit(bench_files("one"), "k1")
    before = spent(bench)
    again = bench.session.submit(bench_files("one", config={"epochs": 1})._replace(hypothesis=b"another idea"), "k2")
    assert (again.submission, again.attempt, again.outcome) == (2, 1, SubmissionOutcome.REPLICATED)
    assert spent(bench) == before
    other = bench.session.submit(bench_files("one", config={"epochs": 2}), "k3")
    assert (other.attempt, other.outcome) == (2, SubmissionOutcome.ADMITTED)


def test_a_failed_attempt_is_not_used_up_and_its_files_may_be_tried_again(bench: LabBench) -> None:
    bench.session.submit(bench_files("one"), "k1")
    assert bench.session.claim_next() is not None
    bench.session.training_started(1)
    assert bench.session.failed(1, failure="out_of_memory", detail="the worker was killed", used=Used(train_tokens=10))
    balances = bench.ledger.balances()
    assert balances[Account.ATTEMPTS].available == BUDGET.attempts
    assert balances[Account.TRAINING].spent == PRICING.training_micro_usd(10)
    again = bench.session.submit(bench_files("one"), "k2")
    assert (again.attempt, again.outcome) == (2, SubmissionOutcome.ADMITTED)


def test_a_refused_submission_spends_nothing_and_is_told_the_same_again(bench: LabBench) -> None:
    bad = SubmissionFiles(b'{"messages": 3}\n', b'{"epochs": "1e3"}', b"")
    before = spent(bench)
    told = []
    for _ in range(2):
        with pytest.raises(SubmissionRefused) as refused:
            bench.session.submit(bad, "k1")
        told.append((refused.value.problems, refused.value.counts))
    assert told[0] == told[1]
    assert {problem.file for problem in told[0][0]} == {"train_messages.jsonl", "run_config.json", "hypothesis.md"}
    assert spent(bench) == before
    assert [one.decision for one in bench.state().submissions.values()] == [Decision.REFUSED]


def test_a_refusal_for_lack_of_money_leaves_nothing_reserved_and_may_be_tried_again(tmp_path: Path) -> None:
    one_evaluation = PRICING.sampling_micro_usd(160, 128)
    budget = BUDGET.model_copy(update={"sampling_usd": Decimal(one_evaluation) * 9 / 5 / 1_000_000})
    with LabBench(tmp_path, budget=budget) as bench:
        bench.session.submit(bench_files("one"), "k1")
        before = spent(bench)
        for _ in range(2):
            with pytest.raises(BudgetExceeded) as refused:
                bench.session.submit(bench_files("two"), "k2")
            assert "sampling" in str(refused.value)
        assert spent(bench) == before
        bench.finish_next(3)
        reply = bench.session.submit(bench_files("two"), "k2")
        assert (reply.attempt, reply.submission) == (2, 4)


def test_an_unknown_price_is_a_refusal(tmp_path: Path) -> None:
    unpriced = PRICING.model_copy(
        update={"price": ModelPrice(prefill=PRICING.price.prefill, sample=PRICING.price.sample)}
    )
    with LabBench(tmp_path, pricing=unpriced) as bench:
        with pytest.raises(UnknownPrice):
            bench.session.submit(bench_files("one"), "k1")
        assert spent(bench) == 0


def test_no_attempt_starts_in_the_final_window(bench: LabBench) -> None:
    clock = bench.clock
    assert isinstance(clock, FakeClock)
    clock.advance(BUDGET.wall_seconds - BUDGET.final_window_seconds)
    assert bench.session.in_final_window()
    with pytest.raises(LabError) as refused:
        bench.session.submit(bench_files("one"), "k1")
    assert refused.value.code == "final-window"
    assert spent(bench) == 0


def test_an_attempt_that_cannot_finish_with_those_before_it_is_refused(tmp_path: Path) -> None:
    with LabBench(tmp_path, estimate_seconds=lambda _: 400.0) as bench:
        bench.session.submit(bench_files("one"), "k1")
        bench.session.submit(bench_files("two"), "k2")
        with pytest.raises(LabError) as refused:
            bench.session.submit(bench_files("three"), "k3")
        assert refused.value.code == "too-late"
        bench.finish_next(2)
        assert bench.session.submit(bench_files("three"), "k3").attempt == 3


def test_turning_the_wall_clock_back_gives_no_time(bench: LabBench) -> None:
    clock = bench.clock
    assert isinstance(clock, FakeClock)
    clock.advance(500)
    before = bench.session.seconds_left()
    clock.turn_back(5_000)
    assert bench.session.seconds_left() == before


def test_time_goes_on_only_while_a_controller_works(bench: LabBench) -> None:
    clock = bench.clock
    assert isinstance(clock, FakeClock)
    clock.advance(300)
    bench.session.submit(bench_files("one"), "k1")
    left = bench.session.seconds_left()
    bench.session.stop()
    clock.advance(10_000)
    assert bench.restart().seconds_left() == left


def test_two_submissions_cannot_both_take_the_last_attempt(tmp_path: Path) -> None:
    budget = BUDGET.model_copy(update={"attempts": 1})
    with LabBench(tmp_path, budget=budget) as bench:
        outcomes: list[SubmitReply | BudgetExceeded] = []

        def submit(number: int) -> None:
            try:
                outcomes.append(bench.session.submit(bench_files(f"text {number}"), f"k{number}"))
            except BudgetExceeded as refused:
                outcomes.append(refused)

        threads = [threading.Thread(target=submit, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(isinstance(outcome, SubmitReply) for outcome in outcomes) == 1
        assert len(outcomes) == 6
        assert len(bench.state().attempts) == 1


def test_one_key_handed_in_by_many_threads_at_once_is_one_submission(bench: LabBench) -> None:
    replies: list[SubmitReply] = []
    threads = [
        threading.Thread(target=lambda: replies.append(bench.session.submit(bench_files("one"), "k1")))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 6
    assert len(set(replies)) == 1
    assert len(bench.state().submissions) == 1


def test_a_submission_that_a_dead_controller_left_undecided_is_decided_on_recovery(bench: LabBench) -> None:
    from rsibench.journal.events import SubmissionReceived  # noqa: PLC0415 - what a dying controller had written

    files = bench_files("one")
    assert isinstance(files.rows, bytes)
    assert files.hypothesis is not None
    received = SubmissionReceived(
        submission=1,
        rows_blob=bench.blobs.put(files.rows),
        config_blob=bench.blobs.put(b"{}"),
        hypothesis_blob=bench.blobs.put(files.hypothesis),
        submission_digest="a" * 64,
        idempotency_key="k1",
    )
    bench.journal.append(received)
    session = bench.restart()
    assert bench.state().submissions[1].decision is Decision.ADMITTED
    assert session.submit(files, "k1").attempt == 1
    assert len(bench.state().submissions) == 1


def test_rows_from_a_path_are_the_same_submission_as_rows_from_memory(bench: LabBench, tmp_path: Path) -> None:
    files = bench_files("one")
    assert isinstance(files.rows, bytes)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(files.rows)
    first = bench.session.submit(files._replace(rows=path), "k1")
    assert bench.session.submit(files, "k1") == first
    assert first.stage is Stage.ADMITTED
