"""The controller's side: attempts are claimed in order, end once, and are charged what they used."""

from __future__ import annotations

import threading

import pytest

from rsibench.errors import IntegrityError, LabError
from rsibench.journal.state import Stage
from rsibench.lab.core import Used
from rsibench.spec.item import Item
from rsibench.store.holding import Holding
from rsibench.testing.lab import PRICING, LabBench, bench_files, bench_score, bench_trials
from rsibench.units import Account


def submit(bench: LabBench, *texts: str) -> None:
    for text in texts:
        bench.session.submit(bench_files(text), text.replace(" ", "-"))


def test_attempts_are_claimed_in_order_and_each_once(bench: LabBench) -> None:
    submit(bench, "a", "b")
    first, second = bench.session.claim_next(), bench.session.claim_next()
    assert first is not None
    assert second is not None
    assert (first.attempt, second.attempt) == (1, 2)
    assert bench.session.claim_next() is None


def test_work_holds_the_rows_that_were_submitted(bench: LabBench) -> None:
    submit(bench, "hello there")
    work = bench.session.claim_next()
    assert work is not None
    assert "hello there" in bench.terms.gate.renderer.decode(work.rows[0].rendered.token_ids)
    assert work.train_tokens == bench.state().attempts[1].train_tokens
    assert work.trained is None


def test_rows_that_were_changed_on_disk_are_not_trained_on(bench: LabBench) -> None:
    submit(bench, "a")
    path = bench.blobs.path(bench.state().submissions[1].rows_blob)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"a", b"b"))
    with pytest.raises(IntegrityError):
        bench.session.claim_next()


def test_after_a_restart_an_attempt_is_claimed_again_and_its_training_is_not_repeated(bench: LabBench) -> None:
    submit(bench, "a", "b")
    bench.session.claim_next()
    bench.train(1)
    session = bench.restart()
    again = session.claim_next()
    assert again is not None
    assert again.attempt == 1
    assert again.trained is not None
    assert again.trained.adapter_sha256 == bench.state().attempts[1].adapter_sha256
    other = session.claim_next()
    assert other is not None
    assert other.trained is None


def test_a_score_counts_once(bench: LabBench) -> None:
    submit(bench, "a")
    bench.finish_next(4)
    head = bench.journal.head()
    assert bench.score(1, 4)
    assert bench.journal.head() == head
    with pytest.raises(IntegrityError):
        bench.score(1, 5)
    assert bench.journal.head() == head


def test_trials_of_other_items_are_not_a_score(bench: LabBench) -> None:
    submit(bench, "a")
    bench.train(1)
    strange = [Item.model_validate({**item.model_dump(), "prompt": "another"}) for item in bench.items]
    trials = bench_trials(3, strange)
    blob = bench.blobs.put(b"".join(trial.canonical() + b"\n" for trial in trials))
    with pytest.raises(IntegrityError):
        bench.session.scored(1, blob, bench_score(trials))
    assert bench.state().attempts[1].stage is Stage.TRAINED


def test_a_failure_charges_what_was_used_and_returns_the_rest(bench: LabBench) -> None:
    submit(bench, "a")
    bench.train(1)
    assert bench.session.failed(1, failure="worker_lost", detail="killed", used=Used(0, 10, 4))
    state = bench.state()
    reservation = state.reservations[state.attempts[1].reservation]
    assert reservation.holding is Holding.SETTLED
    assert reservation.spent[Account.TRAINING] == PRICING.training_micro_usd(state.attempts[1].train_tokens)
    assert reservation.spent[Account.SAMPLING] == PRICING.sampling_micro_usd(10, 4)
    assert reservation.spent[Account.ATTEMPTS] == 0
    assert not bench.score(1, 3)
    assert bench.session.is_over(1)


def test_waiting_ends_with_the_score(bench: LabBench) -> None:
    submit(bench, "a")
    stages: list[Stage] = []
    waiter = threading.Thread(target=lambda: stages.append(bench.session.wait(1, 3_600).stage))
    waiter.start()
    bench.finish_next(4)
    waiter.join(30)
    assert stages == [Stage.SCORED]


def test_waiting_without_time_tells_where_the_attempt_is(bench: LabBench) -> None:
    submit(bench, "a")
    reply = bench.session.wait(1, 0)
    assert (reply.finished, reply.stage) == (False, Stage.ADMITTED)


def test_waiting_for_nothing_is_an_error(bench: LabBench) -> None:
    with pytest.raises(LabError) as refused:
        bench.session.wait(1, 0)
    assert (refused.value.code, refused.value.status) == ("no-such-attempt", 404)


def test_a_stopping_controller_lets_everybody_go(bench: LabBench) -> None:
    submit(bench, "a")
    finished: list[bool] = []
    waiter = threading.Thread(target=lambda: finished.append(bench.session.wait(1, 3_600).finished))
    waiter.start()
    bench.session.stop()
    waiter.join(30)
    assert finished == [False]
    assert bench.session.claim_next() is None


def test_the_worker_is_woken_by_a_submission_and_by_the_end(bench: LabBench) -> None:
    found: list[bool] = []
    worker = threading.Thread(target=lambda: found.append(bench.session.wait_for_work(3_600)))
    worker.start()
    submit(bench, "a")
    worker.join(30)
    assert found == [True]
    bench.session.commit("operator")
    assert not bench.session.wait_for_work(3_600)
