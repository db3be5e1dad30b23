"""The ledger: what each call does, what it refuses, and that rows and journal never disagree."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rsibench.errors import BudgetExceeded, IntegrityError
from rsibench.journal.balance import Balance
from rsibench.journal.chain import verify_chain
from rsibench.journal.events import BudgetReserved, BudgetSettled
from rsibench.ledger.replay import balances_from_events
from rsibench.testing.run_builder import LIMITS, RunBuilder
from rsibench.units import Account

TRAINING = {Account.TRAINING: 300_000}


def _balance(run: RunBuilder, account: Account) -> Balance:
    return run.ledger.balances()[account]


def _agrees(run: RunBuilder) -> None:
    run.ledger.check_against(run.journal.state())
    assert balances_from_events(run.journal.entries()) == run.ledger.balances()
    verify_chain(run.journal.rows())


def test_a_reservation_is_settled_and_the_rest_returns(run: RunBuilder) -> None:
    run.ledger.reserve("a", TRAINING)
    assert _balance(run, Account.TRAINING) == Balance(400_000, 300_000, 0)
    run.ledger.settle("a", {Account.TRAINING: 120_000})
    assert _balance(run, Account.TRAINING) == Balance(400_000, 0, 120_000)
    assert _balance(run, Account.TRAINING).available == 280_000
    _agrees(run)


def test_a_released_reservation_returns_whole(run: RunBuilder) -> None:
    run.ledger.reserve("a", TRAINING)
    run.ledger.release("a")
    assert _balance(run, Account.TRAINING) == Balance(400_000, 0, 0)
    _agrees(run)


def test_an_account_that_settlement_does_not_name_was_not_spent_from(run: RunBuilder) -> None:
    run.ledger.reserve("a", {Account.TRAINING: 10, Account.SAMPLING: 20})
    run.ledger.settle("a", {Account.TRAINING: 3, Account.ROLLOUT: 0})
    run.ledger.settle("a", {Account.TRAINING: 3, Account.SAMPLING: 0})
    assert _balance(run, Account.SAMPLING) == Balance(100_000, 0, 0)
    _agrees(run)


def test_too_large_a_reservation_is_refused_whole_with_every_account(run: RunBuilder) -> None:
    run.ledger.reserve("a", TRAINING)
    head = run.journal.head()
    with pytest.raises(BudgetExceeded) as caught:
        run.ledger.reserve(
            "b", {Account.TRAINING: 150_000, Account.ROLLOUT: 1, Account.ATTEMPTS: 1, Account.WALL: 1_800_500}
        )
    message = str(caught.value)
    assert "training_usd: asked $0.15, available $0.1 of $0.4 ($0.3 reserved, $0 spent)" in message
    assert "rollout_usd: asked $0.000001, available $0 of $0" in message
    assert "wall_seconds: asked 1800.5, available 1800 of 1800" in message
    assert "attempts: asked" not in message
    assert "train on fewer tokens" in message
    assert f"run {run.run_id}, reservation b" in message
    assert run.journal.head() == head
    assert _balance(run, Account.ATTEMPTS) == Balance(4, 0, 0)
    _agrees(run)


def test_shortfalls_are_told_without_reserving(run: RunBuilder) -> None:
    short = run.ledger.shortfalls({Account.ATTEMPTS: 5, Account.TRAINING: 400_000})
    assert [(each.account, each.asked, each.balance.available) for each in short] == [(Account.ATTEMPTS, 5, 4)]
    assert run.ledger.shortfalls({Account.ATTEMPTS: 4}) == ()
    assert run.ledger.balances() == {account: Balance(limit, 0, 0) for account, limit in LIMITS.items()}


def test_a_refusal_inside_a_transaction_can_be_caught(run: RunBuilder) -> None:
    with run.store.transaction():
        run.ledger.reserve("a", TRAINING)
        with pytest.raises(BudgetExceeded):
            run.ledger.reserve("b", TRAINING)
        run.ledger.reserve("c", {Account.SAMPLING: 1})
    assert set(run.journal.state().reservations) == {"a", "c"}
    _agrees(run)


def test_an_outer_rollback_takes_rows_and_events_together(run: RunBuilder) -> None:
    def reserve_and_fail() -> None:
        with run.store.transaction():
            run.ledger.reserve("a", TRAINING)
            raise KeyError

    head = run.journal.head()
    with pytest.raises(KeyError):
        reserve_and_fail()
    assert run.journal.head() == head
    assert _balance(run, Account.TRAINING) == Balance(400_000, 0, 0)
    _agrees(run)


def test_repeated_calls_do_nothing(run: RunBuilder) -> None:
    spent = {Account.TRAINING: 5}
    run.ledger.open(LIMITS)
    run.ledger.reserve("a", TRAINING)
    run.ledger.reserve("a", TRAINING)
    run.ledger.settle("a", spent)
    run.ledger.reserve("b", TRAINING)
    run.ledger.release("b")
    head, balances = run.journal.head(), run.ledger.balances()
    run.ledger.settle("a", spent)
    run.ledger.reserve("a", TRAINING)
    run.ledger.release("b")
    run.ledger.reserve("b", TRAINING)
    run.ledger.open(LIMITS)
    assert (run.journal.head(), run.ledger.balances()) == (head, balances)


def test_a_repeated_settlement_keeps_the_first_wall_charge(run: RunBuilder) -> None:
    run.ledger.reserve("run/wall", {Account.WALL: 1_800_000})
    run.ledger.settle("run/wall", {}, wall_units=60_000)
    run.ledger.settle("run/wall", {}, wall_units=61_000)
    assert _balance(run, Account.WALL) == Balance(1_800_000, 0, 60_000)
    _agrees(run)


def test_wall_time_stands_apart_in_the_event(run: RunBuilder) -> None:
    run.ledger.reserve("run/wall", {Account.WALL: 1_800_000})
    run.ledger.settle("run/wall", {}, wall_units=60_000)
    events = [entry.event for entry in run.journal.entries()][-2:]
    assert events == [
        BudgetReserved(key="run/wall", amounts={Account.WALL: 1_800_000}),
        BudgetSettled(key="run/wall", amounts={}, wall_units=60_000),
    ]


def test_faults_of_a_caller_are_refused_and_change_nothing(run: RunBuilder) -> None:
    run.ledger.reserve("open", {Account.TRAINING: 10, Account.WALL: 10})
    run.ledger.reserve("settled", {Account.TRAINING: 10})
    run.ledger.settle("settled", {Account.TRAINING: 7})
    run.ledger.reserve("released", {Account.TRAINING: 10})
    run.ledger.release("released")
    head, balances = run.journal.head(), run.ledger.balances()
    faults: list[tuple[Callable[[], None], str]] = [
        (lambda: run.ledger.open({Account.TRAINING: 1}), "opened before"),
        (lambda: run.ledger.reserve("open", {Account.TRAINING: 11}), "it holds training_usd 10"),
        (lambda: run.ledger.reserve("new", {Account.TRAINING: -1}), "less than nothing"),
        (lambda: run.ledger.settle("open", {Account.TRAINING: 11}), "only 10 were reserved"),
        (lambda: run.ledger.settle("open", {Account.TRAINING: -1}), "less than nothing"),
        (lambda: run.ledger.settle("open", {Account.SAMPLING: 1}), "only 0 were reserved"),
        (lambda: run.ledger.settle("open", {}, wall_units=11), "only 10 were reserved"),
        (lambda: run.ledger.settle("open", {Account.WALL: 1}), "wall_units"),
        (lambda: run.ledger.settle("never", {}), "never reserved"),
        (lambda: run.ledger.settle("settled", {Account.TRAINING: 6}), "it was settled for training_usd 7"),
        (lambda: run.ledger.settle("settled", {}), "it was settled for training_usd 7"),
        (lambda: run.ledger.settle("released", {}), "it is released"),
        (lambda: run.ledger.release("settled"), "it is settled"),
        (lambda: run.ledger.release("never"), "never reserved"),
    ]
    for fault, says in faults:
        with pytest.raises(IntegrityError, match=says):
            fault()
    assert (run.journal.head(), run.ledger.balances()) == (head, balances)
    _agrees(run)


def test_negative_limits_are_refused(tmp_path: Path) -> None:
    with RunBuilder(tmp_path) as fresh, pytest.raises(IntegrityError, match="less than nothing"):
        fresh.ledger.open({Account.TRAINING: -1})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("UPDATE accounts SET spent_units = 4 WHERE account = 'training_usd'", "account training_usd stands at"),
        ("UPDATE accounts SET limit_units = 400001 WHERE account = 'training_usd'", "account training_usd stands at"),
        ("UPDATE reserved_amounts SET spent_units = 4 WHERE key = 'a'", "reservation a"),
        ("UPDATE reservations SET state = 'released' WHERE key = 'a'", "reservation a"),
        ("INSERT INTO reservations SELECT run_id, 'ghost', 'released' FROM runs", "reservation ghost"),
    ],
)
def test_rows_changed_behind_its_back_are_found(run: RunBuilder, tmp_path: Path, change: str, says: str) -> None:
    run.ledger.reserve("a", {Account.TRAINING: 10})
    run.ledger.settle("a", {Account.TRAINING: 3})
    _agrees(run)
    with closing(sqlite3.connect(tmp_path / "rsibench.sqlite")) as vandal:
        vandal.execute(change)
        vandal.commit()
    with pytest.raises(IntegrityError, match=says):
        run.ledger.check_against(run.journal.state())
