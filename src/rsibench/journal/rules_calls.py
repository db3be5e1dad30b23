"""What may happen to calls of outside models: priced, reserved before they are sent, settled at the recorded price.

Because a settled call's cost is computed here again, a journal whose costs do not follow from its tokens cannot be
folded, and so cannot be verified.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from rsibench.errors import UnknownPrice
from rsibench.journal.events import CallReserved, CallSettled, CallsPriced
from rsibench.journal.rules import Impossible, Rules, put, require, require_phase
from rsibench.journal.state import CallTotals, OpenCall, Phase, Reservation, RunState
from rsibench.outcomes import CALL_CHARGES, CallCharge
from rsibench.spec.model_calls import CallUsage
from rsibench.store.holding import Holding
from rsibench.units import Account

CALLS = Rules()

_CALL_ACCOUNTS = (Account.RESEARCHER, Account.ROLLOUT)
_SETTLE_PHASES = (Phase.RESEARCHING, Phase.COMMITTED, Phase.OFFICIAL)


def call_key(call: int) -> str:
    """The key of a call's reservation."""
    return f"call/{call}"


def overrun_key(call: int) -> str:
    """The key of what a call used beyond its reservation, where it did."""
    return f"call/{call}/overrun"


@CALLS.on(CallsPriced)
def _priced(state: RunState, event: CallsPriced) -> RunState:
    require_phase(state, Phase.PREPARING, Phase.RESEARCHING)
    require(event.account in _CALL_ACCOUNTS, f"no calls are charged to {event.account}")
    require(event.account not in state.calls.prices, f"prices for {event.account} were recorded before")
    calls = replace(state.calls, prices=put(state.calls.prices, event.account, event.prices))
    return replace(state, calls=calls)


@CALLS.on(CallReserved)
def _reserved(state: RunState, event: CallReserved) -> RunState:
    require_phase(state, Phase.RESEARCHING)
    calls = state.calls
    require(event.call == calls.count + 1, f"call {calls.count + 1} is next")
    require(event.account in calls.prices, f"no prices were recorded for {event.account}")
    require(event.model in calls.prices[event.account].models, f"the model {event.model!r} has no recorded price")
    reservation = _standing(state, event.reservation)
    require(event.reservation == call_key(event.call), f"its reservation is not {call_key(event.call)!r}")
    require(reservation.holding is Holding.RESERVED, "its reservation is not open")
    require(set(reservation.amounts) == {event.account}, f"its reservation is not of {event.account} alone")
    opened = OpenCall(event.call, event.account, event.reservation, event.wire, event.model)
    return replace(state, calls=replace(calls, count=event.call, open=put(calls.open, event.call, opened)))


@CALLS.on(CallSettled)
def _settled(state: RunState, event: CallSettled) -> RunState:
    require_phase(state, *_SETTLE_PHASES)
    call = state.calls.open.get(event.call)
    if call is None:
        raise Impossible(f"there is no open call {event.call}")
    reservation = _standing(state, call.reservation)
    require(reservation.holding is Holding.SETTLED, "its reservation is not settled")
    cost = _cost(state, event, call, reservation.amounts[call.account])
    require(event.cost_micro_usd == cost, f"it cost {cost} micro-dollars by its tokens and the recorded prices")
    spent = _spent(state, event.call, call.account)
    require(event.charged_micro_usd == spent, f"{spent} micro-dollars were charged")
    short = spent < cost
    require(spent <= cost, "more was charged than it cost")
    require(not short or not state.balances[call.account].available, "less was charged although there was more")
    opened = {number: other for number, other in state.calls.open.items() if number != event.call}
    whose = (call.account, call.model)
    totals = put(state.calls.totals, whose, _added(state.calls.totals.get(whose, CallTotals()), event))
    return replace(state, calls=replace(state.calls, open=MappingProxyType(opened), totals=totals))


def _cost(state: RunState, event: CallSettled, call: OpenCall, reserved: int) -> int:
    charge = CALL_CHARGES[event.outcome]
    if charge is CallCharge.NOTHING:
        return 0
    if charge is CallCharge.RESERVATION:
        return reserved
    if event.usage is None:
        raise Impossible("it is charged by usage but has none")
    try:
        return state.calls.prices[call.account].cost_micro_usd(call.model, event.usage)
    except UnknownPrice as unknown:
        raise Impossible(str(unknown)) from None


def _spent(state: RunState, call: int, account: Account) -> int:
    """What was charged under the call's keys."""
    keys = (call_key(call), overrun_key(call))
    return sum(state.reservations[key].spent.get(account, 0) for key in keys if key in state.reservations)


def _standing(state: RunState, key: str) -> Reservation:
    found = state.reservations.get(key)
    if found is None:
        raise Impossible(f"the reservation {key!r} was never made")
    return found


def _added(totals: CallTotals, event: CallSettled) -> CallTotals:
    outcomes = {**totals.outcomes, event.outcome: totals.outcomes.get(event.outcome, 0) + 1}
    return CallTotals(
        outcomes=MappingProxyType(outcomes),
        usage=totals.usage + (event.usage or CallUsage()),
        cost_micro_usd=totals.cost_micro_usd + event.cost_micro_usd,
        charged_micro_usd=totals.charged_micro_usd + event.charged_micro_usd,
    )
