"""Ledger: reserve, settle and release units of a run's accounts, each call one transaction with its journal event.

Invariant: for every account limit = available + reserved + spent, none negative, under any interleaving of callers and
any kill; rows and journal events never disagree, because both are written or neither is. Repeating a call with the same
key and amounts does nothing, so that a step can be run again after a crash. Not here: prices (`spec/prices.py`), and
what is charged when.
"""

from __future__ import annotations

from collections.abc import Mapping

from rsibench.errors import IntegrityError
from rsibench.journal.balance import Balance
from rsibench.journal.events import BudgetOpened, BudgetReleased, BudgetReserved, BudgetSettled
from rsibench.journal.journal import Journal
from rsibench.journal.state import RunState
from rsibench.ledger.shortfall import Shortfall, exceeded
from rsibench.store import accounts
from rsibench.store.accounts import ReservationRow
from rsibench.store.holding import Holding
from rsibench.store.store import Store
from rsibench.units import Account

type Amounts = Mapping[Account, int]
"""Whole numbers of each account's smallest unit."""


class Ledger:
    """The accounts of the journal's run. Safe to share between threads."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store = store
        self._journal = journal
        self._run_id = journal.run_id

    def open(self, limits: Amounts) -> None:
        """Opens every account in `limits`; an account that is not named can never be charged.

        Opening again with equal limits does nothing; with others it is an IntegrityError.
        """
        with self._store.transaction(self._run_id) as connection:
            standing = {account: balance.limit for account, balance in self.balances().items()}
            if standing:
                if standing != dict(limits):
                    raise self._fault("the budget was opened before with other limits")
                return
            self._require_not_negative(limits)
            accounts.insert_accounts(connection, self._run_id, limits)
            self._journal.append(BudgetOpened(limits=dict(limits)))

    def reserve(self, key: str, amounts: Amounts) -> None:
        """Sets `amounts` aside under `key`, all of them or none.

        Raises BudgetExceeded naming every account that has too little left. A key that was used before with equal
        amounts is left as it is, whatever became of it; with other amounts it is an IntegrityError.
        """
        with self._store.transaction(self._run_id) as connection:
            standing = accounts.find_reservation(connection, self._run_id, key)
            if standing is not None:
                before = {account: amount.reserved_units for account, amount in standing.amounts.items()}
                if before != dict(amounts):
                    raise self._fault(f"it holds {_text(before)}, so it cannot be used for {_text(amounts)}", key)
                return
            self._require_not_negative(amounts, key)
            short = self.shortfalls(amounts)
            if short:
                raise exceeded(self._where(key), short)
            for account, units in amounts.items():
                if not accounts.take(connection, self._run_id, account, units):
                    raise exceeded(self._where(key), self.shortfalls(amounts))
            accounts.insert_reservation(connection, self._run_id, key, amounts)
            self._journal.append(BudgetReserved(key=key, amounts=dict(amounts)))

    def settle(self, key: str, amounts: Amounts, wall_units: int | None = None) -> None:
        """Charges what a reservation really cost and returns the rest; an account not named was not spent from.

        Wall time is charged through `wall_units` (milliseconds), never through `amounts`, because it differs from run
        to run. Settling again with equal amounts does nothing, and the first wall charge stands. IntegrityError for
        more than was reserved, a negative amount, other amounts than before, or a key that is not reserved.
        """
        with self._store.transaction(self._run_id) as connection:
            standing = self._standing(accounts.find_reservation(connection, self._run_id, key), key)
            if Account.WALL in amounts:
                raise self._fault("wall time is settled with wall_units, not with the other amounts", key)
            if standing.holding is Holding.SETTLED:
                self._require_same_charge(standing, amounts)
                return
            spent = dict(amounts)
            if wall_units is not None:
                spent[Account.WALL] = wall_units
            self._close(standing, Holding.SETTLED, spent)
            self._journal.append(BudgetSettled(key=key, amounts=dict(amounts), wall_units=wall_units))

    def release(self, key: str) -> None:
        """Gives a reservation back unspent; again does nothing. IntegrityError when it was settled or never made."""
        with self._store.transaction(self._run_id) as connection:
            standing = self._standing(accounts.find_reservation(connection, self._run_id, key), key)
            if standing.holding is Holding.RELEASED:
                return
            self._close(standing, Holding.RELEASED, {})
            self._journal.append(BudgetReleased(key=key))

    def balances(self) -> dict[Account, Balance]:
        """Every opened account's balance, all at one moment."""
        with self._store.reading() as connection:
            rows = accounts.account_rows(connection, self._run_id)
        return {account: Balance(*row) for account, row in rows.items()}

    def shortfalls(self, amounts: Amounts) -> tuple[Shortfall, ...]:
        """The accounts that have less left than `amounts` asks, none when it could be reserved now. Changes nothing."""
        balances = self.balances()
        none = Balance(0, 0, 0)
        asked = [(account, units, balances.get(account, none)) for account, units in amounts.items()]
        return tuple(Shortfall(*each) for each in asked if each[1] > each[2].available)

    def check_against(self, state: RunState) -> None:
        """Compares the rows with what the journal's events add up to. Raises IntegrityError naming what differs."""
        with self._store.reading() as connection:
            rows = accounts.reservation_rows(connection, self._run_id)
            balances = self.balances()
        for account in sorted(set(balances) | set(state.balances)):
            if balances.get(account) != state.balances.get(account):
                here, there = balances.get(account), state.balances.get(account)
                raise self._fault(f"account {account} stands at {here}, but the journal's events give {there}")
        for key in sorted(set(rows) | set(state.reservations)):
            row, reservation = rows.get(key), state.reservations.get(key)
            if row is None or reservation is None:
                raise self._fault("only one of ledger and journal knows it", key)
            charged = {account: amount.spent_units for account, amount in row.amounts.items()}
            expected = {account: reservation.spent.get(account, 0) for account in reservation.amounts}
            if (row.holding, charged) != (reservation.holding, expected):
                told = f"{reservation.holding} with {_text(expected)}"
                raise self._fault(f"it is {row.holding} with {_text(charged)}, but by the journal {told}", key)

    def _close(self, standing: ReservationRow, holding: Holding, spent: Amounts) -> None:
        """Ends an open reservation in the rows: what it held leaves reserved, what was spent of it goes to spent."""
        key = standing.key
        if standing.holding is not Holding.RESERVED:
            raise self._fault(f"it is {standing.holding}, so it cannot become {holding}", key)
        self._require_not_negative(spent, key)
        for account, units in spent.items():
            held = standing.amounts[account].reserved_units if account in standing.amounts else 0
            if units > held:
                raise self._fault(f"{units} units of {account} are charged, but only {held} were reserved", key)
        with self._store.transaction(self._run_id) as connection:
            for account, amount in standing.amounts.items():
                units = spent.get(account, 0)
                if not accounts.give_back(connection, self._run_id, account, amount.reserved_units, units):
                    raise self._fault(f"account {account} has less reserved than this reservation holds", key)
            if not accounts.close_reservation(connection, self._run_id, key, holding, spent):
                raise self._fault("somebody else has just ended it", key)

    def _standing(self, found: ReservationRow | None, key: str) -> ReservationRow:
        if found is None:
            raise self._fault("it was never reserved", key)
        return found

    def _require_same_charge(self, standing: ReservationRow, amounts: Amounts) -> None:
        before = {account: row.spent_units for account, row in standing.amounts.items()}
        before.pop(Account.WALL, None)
        now = {**dict.fromkeys(before, 0), **amounts}
        if now != {**dict.fromkeys(amounts, 0), **before}:
            raise self._fault(
                f"it was settled for {_text(before)}, so it cannot be settled for {_text(amounts)}", standing.key
            )

    def _require_not_negative(self, amounts: Amounts, key: str = "") -> None:
        for account, units in amounts.items():
            if units < 0:
                raise self._fault(f"{units} units of {account} are less than nothing", key)

    def _where(self, key: str) -> str:
        return f"run {self._run_id}, reservation {key}" if key else f"run {self._run_id}, budget"

    def _fault(self, what: str, key: str = "") -> IntegrityError:
        fix = "a fault of the program or a changed file; nothing was charged by this call"
        return IntegrityError(what, where=self._where(key), fix=fix)


def _text(amounts: Amounts) -> str:
    return ", ".join(f"{account} {units}" for account, units in sorted(amounts.items())) or "nothing"
