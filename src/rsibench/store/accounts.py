"""Rows of accounts and reservations: conditional moves that never leave a balance negative, and the sums as they stand.

Invariant: a move happens whole or is refused by its own WHERE clause, so that two writers can never both take the last
unit, on any database. Not here: what a move means, which is the ledger's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, select, update

from rsibench.store.holding import Holding
from rsibench.store.schema import ACCOUNTS, RESERVATIONS, RESERVED_AMOUNTS
from rsibench.units import Account


class AccountRow(NamedTuple):
    """One account's sums in its smallest unit."""

    limit_units: int
    reserved_units: int
    spent_units: int


class AmountRow(NamedTuple):
    """What one reservation holds of one account, and what was spent of it."""

    reserved_units: int
    spent_units: int


class ReservationRow(NamedTuple):
    """One reservation with its amounts by account."""

    key: str
    holding: Holding
    amounts: dict[Account, AmountRow]


def insert_accounts(connection: Connection, run_id: str, limits: Mapping[Account, int]) -> None:
    """Opens accounts with nothing reserved and nothing spent."""
    rows = [
        {"run_id": run_id, "account": account.value, "limit_units": limit, "reserved_units": 0, "spent_units": 0}
        for account, limit in limits.items()
    ]
    if rows:
        connection.execute(ACCOUNTS.insert(), rows)


def account_rows(connection: Connection, run_id: str) -> dict[Account, AccountRow]:
    """Every opened account of a run, in the order of `Account`."""
    columns = (ACCOUNTS.c.account, ACCOUNTS.c.limit_units, ACCOUNTS.c.reserved_units, ACCOUNTS.c.spent_units)
    found = connection.execute(select(*columns).where(ACCOUNTS.c.run_id == run_id))
    rows = {Account(row[0]): AccountRow(row[1], row[2], row[3]) for row in found}
    return {account: rows[account] for account in Account if account in rows}


def take(connection: Connection, run_id: str, account: Account, units: int) -> bool:
    """Moves `units` from available to reserved; False, with nothing changed, when less is available."""
    free = ACCOUNTS.c.limit_units - ACCOUNTS.c.reserved_units - ACCOUNTS.c.spent_units
    statement = (
        update(ACCOUNTS)
        .where(_is(run_id, account), free >= units)
        .values(reserved_units=ACCOUNTS.c.reserved_units + units)
    )
    return connection.execute(statement).rowcount == 1


def give_back(connection: Connection, run_id: str, account: Account, reserved_units: int, spent_units: int) -> bool:
    """Takes `reserved_units` out of reserved and adds `spent_units` of them to spent; False when fewer are reserved."""
    statement = (
        update(ACCOUNTS)
        .where(_is(run_id, account), ACCOUNTS.c.reserved_units >= reserved_units)
        .values(
            reserved_units=ACCOUNTS.c.reserved_units - reserved_units,
            spent_units=ACCOUNTS.c.spent_units + spent_units,
        )
    )
    return connection.execute(statement).rowcount == 1


def insert_reservation(connection: Connection, run_id: str, key: str, amounts: Mapping[Account, int]) -> None:
    """Records a reservation and its amounts."""
    holding = Holding.RESERVED.value
    connection.execute(RESERVATIONS.insert().values(run_id=run_id, key=key, state=holding))
    rows = [
        {"run_id": run_id, "key": key, "account": account.value, "reserved_units": units, "spent_units": 0}
        for account, units in amounts.items()
    ]
    if rows:
        connection.execute(RESERVED_AMOUNTS.insert(), rows)


def close_reservation(
    connection: Connection, run_id: str, key: str, holding: Holding, spent: Mapping[Account, int]
) -> bool:
    """Ends an open reservation as settled or released; False when it is not open."""
    of_key = and_(RESERVATIONS.c.run_id == run_id, RESERVATIONS.c.key == key)
    still_open = RESERVATIONS.c.state == Holding.RESERVED.value
    if connection.execute(update(RESERVATIONS).where(of_key, still_open).values(state=holding.value)).rowcount != 1:
        return False
    table = RESERVED_AMOUNTS
    for account, units in spent.items():
        of_amount = and_(table.c.run_id == run_id, table.c.key == key, table.c.account == account.value)
        connection.execute(update(table).where(of_amount).values(spent_units=units))
    return True


def find_reservation(connection: Connection, run_id: str, key: str) -> ReservationRow | None:
    """One reservation, None when the key was never used."""
    return _reservations(connection, run_id, key).get(key)


def reservation_rows(connection: Connection, run_id: str) -> dict[str, ReservationRow]:
    """Every reservation of a run by key."""
    return _reservations(connection, run_id, None)


def _reservations(connection: Connection, run_id: str, key: str | None) -> dict[str, ReservationRow]:
    amounts = RESERVED_AMOUNTS
    same = and_(amounts.c.run_id == RESERVATIONS.c.run_id, amounts.c.key == RESERVATIONS.c.key)
    query = (
        select(
            RESERVATIONS.c.key, RESERVATIONS.c.state, amounts.c.account, amounts.c.reserved_units, amounts.c.spent_units
        )
        .select_from(RESERVATIONS.outerjoin(amounts, same))
        .where(RESERVATIONS.c.run_id == run_id)
        .order_by(RESERVATIONS.c.key, amounts.c.account)
    )
    if key is not None:
        query = query.where(RESERVATIONS.c.key == key)
    found: dict[str, ReservationRow] = {}
    for row in connection.execute(query):
        reservation = found.setdefault(row[0], ReservationRow(row[0], Holding(row[1]), {}))
        if row[2] is not None:
            reservation.amounts[Account(row[2])] = AmountRow(row[3], row[4])
    return found


def _is(run_id: str, account: Account) -> ColumnElement[bool]:
    return and_(ACCOUNTS.c.run_id == run_id, ACCOUNTS.c.account == account.value)
