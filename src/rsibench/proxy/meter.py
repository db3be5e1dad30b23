"""Meter: reserves the most a call can cost before it is sent and settles what it cost after, each with its event.

Invariant: a call is in the journal before it is sent, and spent + held + reserved never exceeds the account's limit; a
call that a dead controller left open is charged what was reserved for it. Not here: what is sent, and to whom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from rsibench.errors import BudgetExceeded, IntegrityError, LabError, UnknownPrice
from rsibench.journal.events import CallReserved, CallSettled, CallsPriced
from rsibench.journal.journal import Journal
from rsibench.journal.rules_calls import call_key, overrun_key
from rsibench.journal.state import Phase
from rsibench.ledger.ledger import Ledger
from rsibench.outcomes import CALL_CHARGES, CallCharge, CallOutcome
from rsibench.spec.model_calls import CallUsage, ModelPrices, Wire
from rsibench.store.store import Store
from rsibench.units import Account

LEAST_OUTPUT_TOKENS = 256
"""A call is never capped below this; it is refused instead."""


@dataclass(frozen=True, slots=True)
class CallPlan:
    """A call as it would be sent. `read_tokens` is a bound on what it makes the model read."""

    wire: Wire
    model: str
    upstream_model: str
    effort: str | None
    read_tokens: int
    output_tokens: int
    may_write: bool
    dropped: tuple[str, ...] = ()


class OpenedCall(NamedTuple):
    """A call that may be sent now, with no more than `plan.output_tokens` of output."""

    number: int
    plan: CallPlan
    reserved_micro_usd: int


class Meter:
    """Meters the calls of one account. Safe to share between threads; a caller holds no store transaction."""

    def __init__(self, store: Store, ledger: Ledger, journal: Journal, prices: ModelPrices, account: Account) -> None:
        self._store = store
        self._ledger = ledger
        self._journal = journal
        self._prices = prices
        self._account = account

    def open(self) -> int:
        """Records the prices once and settles calls that a dead controller left open; how many there were.

        To be called once, before the first call. Raises UnknownPrice for a model that cannot be charged, and
        IntegrityError when other prices were recorded before.
        """
        for model in self._prices.models:
            self._prices.require(model)
        with self._store.transaction():
            calls = self._journal.state().calls
            recorded = calls.prices.get(self._account)
            if recorded is None:
                self._journal.append(CallsPriced(account=self._account, prices=self._prices))
            elif recorded != self._prices:
                raise self._fault("its calls were priced differently before")
            mine = [call for call in calls.open.values() if call.account is self._account]
            for call in mine:
                self._settle(call.number, CallOutcome.LOST)
        return len(mine)

    def begin(self, plan: CallPlan) -> OpenedCall:
        """Reserves a call, with less output than planned when the budget allows no more (never below a minimum).

        Raises BudgetExceeded, UnknownPrice, LabError `closed` when no calls are taken, and LabError
        `calls-in-flight` when the money is there but held by calls that are not over.
        """
        with self._store.transaction():
            state = self._journal.state()
            if state.phase is not Phase.RESEARCHING:
                raise LabError("the run takes no calls now", code="closed", status=402, fix="stop; the run is over")
            balance = state.balances[self._account]
            fits, worst = self._fit(plan, balance.available)
            if fits is None:
                if balance.reserved and self._fit(plan, balance.limit - balance.spent)[0] is not None:
                    what = "the rest of the budget is held by calls that are not over"
                    raise LabError(what, code="calls-in-flight", status=429, fix="try again when one is over")
                short = self._ledger.shortfalls({self._account: worst})
                raise BudgetExceeded("; ".join(map(str, short)), where=f"run {self._journal.run_id}", fix="stop now")
            cost = self._most(fits)
            number = state.calls.count + 1
            self._ledger.reserve(call_key(number), {self._account: cost})
            self._journal.append(
                CallReserved(
                    call=number,
                    account=self._account,
                    reservation=call_key(number),
                    wire=fits.wire,
                    model=fits.model,
                    upstream_model=fits.upstream_model,
                    effort=fits.effort,
                    read_tokens=fits.read_tokens,
                    max_output_tokens=fits.output_tokens,
                    capped=fits.output_tokens < plan.output_tokens,
                    dropped=fits.dropped,
                )
            )
        return OpenedCall(number, fits, cost)

    def end(
        self,
        call: OpenedCall,
        outcome: CallOutcome,
        usage: CallUsage | None = None,
        *,
        status: int | None = None,
        model_answered: str | None = None,
        texts_sha256: tuple[str, ...] = (),
    ) -> int:
        """Settles a call; what was charged, in micro-dollars. An answer whose tokens have no price is `unreported`."""
        if CALL_CHARGES[outcome] is CallCharge.USAGE:
            try:
                self._prices.cost_micro_usd(call.plan.model, usage or CallUsage())
            except UnknownPrice:
                outcome = CallOutcome.UNREPORTED
        with self._store.transaction():
            return self._settle(call.number, outcome, usage, status, model_answered, texts_sha256)

    def _fit(self, plan: CallPlan, micro_usd: int) -> tuple[CallPlan | None, int]:
        """The plan with as much output as `micro_usd` pays for, None when that is too little; and its least cost."""
        least = replace(plan, output_tokens=min(plan.output_tokens, LEAST_OUTPUT_TOKENS))
        worst = self._most(least)
        if self._most(plan) <= micro_usd:
            return plan, worst
        if worst > micro_usd:
            return None, worst
        paid = self._prices.output_tokens_for(plan.model, plan.read_tokens, micro_usd, may_write=plan.may_write)
        return replace(plan, output_tokens=paid), worst

    def _most(self, plan: CallPlan) -> int:
        return self._prices.most_micro_usd(plan.model, plan.read_tokens, plan.output_tokens, may_write=plan.may_write)

    def _settle(
        self,
        number: int,
        outcome: CallOutcome,
        usage: CallUsage | None = None,
        status: int | None = None,
        model_answered: str | None = None,
        texts_sha256: tuple[str, ...] = (),
    ) -> int:
        state = self._journal.state()
        standing = state.calls.open.get(number)
        if standing is None:
            raise self._fault(f"call {number} is not open")
        reserved = state.reservations[standing.reservation].amounts[self._account]
        charge = CALL_CHARGES[outcome]
        by_usage = charge is CallCharge.USAGE and usage is not None
        cost = self._prices.cost_micro_usd(standing.model, usage) if by_usage and usage is not None else reserved
        if charge is CallCharge.NOTHING:
            cost = 0
        charged = min(cost, reserved)
        self._ledger.settle(standing.reservation, {self._account: charged})
        more = min(cost - charged, self._ledger.balances()[self._account].available)
        if more > 0:
            self._ledger.reserve(overrun_key(number), {self._account: more})
            self._ledger.settle(overrun_key(number), {self._account: more})
        self._journal.append(
            CallSettled(
                call=number,
                outcome=outcome,
                status=status,
                model_answered=model_answered,
                usage=usage,
                cost_micro_usd=cost,
                charged_micro_usd=charged + more,
                texts_sha256=texts_sha256,
            )
        )
        return charged + more

    def _fault(self, what: str) -> IntegrityError:
        where = f"run {self._journal.run_id}, account {self._account}"
        return IntegrityError(what, where=where, fix="a fault of the program or a changed file; nothing was charged")
