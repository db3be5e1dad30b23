"""What may happen to a budget: opened once, then reserved, settled and released, never beyond a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from rsibench.journal.balance import Balance
from rsibench.journal.events import BudgetOpened, BudgetReleased, BudgetReserved, BudgetSettled
from rsibench.journal.rules import Impossible, Rules, put, require, require_phase
from rsibench.journal.state import Phase, Reservation, RunState
from rsibench.store.holding import Holding
from rsibench.units import Account

BUDGET = Rules()

_OPEN_PHASES = (Phase.PREPARING, Phase.RESEARCHING, Phase.COMMITTED, Phase.OFFICIAL)


@BUDGET.on(BudgetOpened)
def _opened(state: RunState, event: BudgetOpened) -> RunState:
    require_phase(state, Phase.PREPARING)
    require(not state.balances, "the budget was opened before")
    require(all(limit >= 0 for limit in event.limits.values()), "a limit is negative")
    limits = {account: Balance(event.limits[account], 0, 0) for account in Account if account in event.limits}
    return replace(state, balances=MappingProxyType(limits))


@BUDGET.on(BudgetReserved)
def _reserved(state: RunState, event: BudgetReserved) -> RunState:
    require_phase(state, *_OPEN_PHASES)
    require(event.key not in state.reservations, f"the key {event.key!r} was used before")
    balances = dict(state.balances)
    for account, units in event.amounts.items():
        require(units >= 0, f"{units} units of {account} cannot be reserved")
        balance = balances.get(account)
        if balance is None:
            raise Impossible(f"account {account} was never opened")
        left = balance.available
        require(units <= left, f"{units} units of {account} are reserved, but {left} are left")
        balances[account] = balance._replace(reserved=balance.reserved + units)
    reservation = Reservation(event.key, MappingProxyType(dict(event.amounts)))
    reservations = put(state.reservations, event.key, reservation)
    return replace(state, balances=MappingProxyType(balances), reservations=reservations)


@BUDGET.on(BudgetSettled)
def _settled(state: RunState, event: BudgetSettled) -> RunState:
    require_phase(state, *_OPEN_PHASES)
    require(Account.WALL not in event.amounts, "wall time is settled apart from the other amounts")
    spent = dict(event.amounts)
    if event.wall_units is not None:
        spent[Account.WALL] = event.wall_units
    return _close(state, event.key, Holding.SETTLED, spent)


@BUDGET.on(BudgetReleased)
def _released(state: RunState, event: BudgetReleased) -> RunState:
    require_phase(state, *_OPEN_PHASES)
    return _close(state, event.key, Holding.RELEASED, {})


def _close(state: RunState, key: str, holding: Holding, spent: Mapping[Account, int]) -> RunState:
    reservation = state.reservations.get(key)
    if reservation is None or reservation.holding is not Holding.RESERVED:
        now = "was never made" if reservation is None else f"is already {reservation.holding}"
        raise Impossible(f"the reservation {key!r} {now}")
    for account, units in spent.items():
        held = reservation.amounts.get(account, 0)
        require(0 <= units <= held, f"{units} units of {account} are charged to {key!r}, which holds {held}")
    balances = dict(state.balances)
    for account, held in reservation.amounts.items():
        before = balances[account]
        units = spent.get(account, 0)
        balances[account] = Balance(before.limit, before.reserved - held, before.spent + units)
    closed = replace(reservation, holding=holding, spent=MappingProxyType(dict(spent)))
    reservations = put(state.reservations, key, closed)
    return replace(state, balances=MappingProxyType(balances), reservations=reservations)
