"""Account rows: conditional moves, and CHECK constraints that hold whatever the program above does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError as DatabaseRefusal

from rsibench.store import accounts
from rsibench.store.accounts import AccountRow, AmountRow, ReservationRow
from rsibench.store.holding import Holding
from rsibench.store.runs import RunRow, add_run
from rsibench.store.store import Store
from rsibench.units import Account

RUN = RunRow("run-1", datetime(2030, 1, 1, tzinfo=UTC), "pocket", "full", "x", 1, "0" * 64)


@pytest.fixture
def opened(store: Store) -> Store:
    """A store with one run: 100 units for training, 2 attempts, 40 training units reserved under `a`."""
    with store.transaction() as connection:
        add_run(connection, RUN)
        accounts.insert_accounts(connection, "run-1", {Account.ATTEMPTS: 2, Account.TRAINING: 100})
        assert accounts.take(connection, "run-1", Account.TRAINING, 40)
        accounts.insert_reservation(connection, "run-1", "a", {Account.TRAINING: 40})
    return store


def _training(store: Store) -> AccountRow:
    with store.reading() as connection:
        return accounts.account_rows(connection, "run-1")[Account.TRAINING]


@pytest.mark.parametrize(("units", "fits"), [(59, True), (60, True), (61, False)])
def test_take_moves_what_is_available_and_no_more(opened: Store, units: int, fits: bool) -> None:
    with opened.transaction() as connection:
        assert accounts.take(connection, "run-1", Account.TRAINING, units) is fits
    assert _training(opened) == AccountRow(100, 40 + units * fits, 0)


def test_take_from_an_account_that_was_never_opened_is_refused(opened: Store) -> None:
    with opened.transaction() as connection:
        assert not accounts.take(connection, "run-1", Account.SAMPLING, 0)


def test_a_reservation_ends_once(opened: Store) -> None:
    spent = {Account.TRAINING: 25}
    with opened.transaction() as connection:
        assert accounts.close_reservation(connection, "run-1", "a", Holding.SETTLED, spent)
        assert accounts.give_back(connection, "run-1", Account.TRAINING, 40, 25)
        assert not accounts.close_reservation(connection, "run-1", "a", Holding.RELEASED, {})
        assert not accounts.give_back(connection, "run-1", Account.TRAINING, 40, 0)
    with opened.reading() as connection:
        found = accounts.find_reservation(connection, "run-1", "a")
    assert found == ReservationRow("a", Holding.SETTLED, {Account.TRAINING: AmountRow(40, 25)})
    assert _training(opened) == AccountRow(100, 0, 25)


def test_a_reservation_of_nothing_is_found_again(opened: Store) -> None:
    with opened.transaction() as connection:
        accounts.insert_reservation(connection, "run-1", "empty", {})
        assert accounts.find_reservation(connection, "run-1", "empty") == ReservationRow("empty", Holding.RESERVED, {})
        assert set(accounts.reservation_rows(connection, "run-1")) == {"a", "empty"}


def test_more_than_reserved_cannot_be_spent(opened: Store) -> None:
    with pytest.raises(DatabaseRefusal), opened.transaction() as connection:
        accounts.close_reservation(connection, "run-1", "a", Holding.SETTLED, {Account.TRAINING: 41})


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE accounts SET spent_units = 61 WHERE account = 'training_usd'",
        "UPDATE accounts SET reserved_units = -1 WHERE account = 'training_usd'",
        "UPDATE accounts SET spent_units = -1 WHERE account = 'attempts'",
        "UPDATE accounts SET limit_units = 39 WHERE account = 'training_usd'",
        "UPDATE reserved_amounts SET spent_units = 41",
        "UPDATE reserved_amounts SET spent_units = -1",
        "UPDATE reservations SET state = 'forgiven'",
    ],
)
def test_the_database_itself_refuses_an_impossible_balance(opened: Store, change: str) -> None:
    with pytest.raises(DatabaseRefusal, match=r"(?i)check"), opened.transaction() as connection:
        connection.execute(text(change))
    assert _training(opened) == AccountRow(100, 40, 0)
