"""The ledger against a model, in any order of callers: conserved, never negative, and always as the journal says."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rsibench.errors import BudgetExceeded, IntegrityError
from rsibench.journal.balance import Balance
from rsibench.journal.chain import verify_chain
from rsibench.ledger.ledger import Ledger
from rsibench.ledger.replay import balances_from_events
from rsibench.testing.run_builder import LIMITS, RunBuilder
from rsibench.units import Account

KEYS = st.sampled_from(["a", "b", "c", "d", "e"])
ACCOUNTS = (Account.TRAINING, Account.ATTEMPTS, Account.ROLLOUT)
AMOUNTS = st.fixed_dictionaries(
    {},
    optional={
        Account.TRAINING: st.integers(-1, 250_000),
        Account.ATTEMPTS: st.integers(0, 3),
        Account.ROLLOUT: st.integers(0, 1),
    },
)


@dataclass
class Model:
    """What the ledger should hold, kept in the plainest way there is."""

    reserved: dict[str, dict[Account, int]] = field(default_factory=dict)
    ended: dict[str, dict[Account, int] | None] = field(default_factory=dict)
    """Settled amounts by key; None for a released one."""

    def balance(self, account: Account) -> Balance:
        """Limit, what open keys hold, and what settled keys cost."""
        held = sum(amounts.get(account, 0) for key, amounts in self.reserved.items() if key not in self.ended)
        spent = sum((amounts or {}).get(account, 0) for amounts in self.ended.values())
        return Balance(LIMITS[account], held, spent)


class LedgerMachine(RuleBasedStateMachine):
    """Two ledgers on one file take turns; a third is opened anew for every check."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.run = RunBuilder(self.folder)
        self.run.prepare()
        self.ledgers = (self.run.ledger, Ledger(self.run.store, self.run.journal))
        self.model = Model()

    def teardown(self) -> None:
        self.run.store.close()
        shutil.rmtree(self.folder)

    @rule(who=st.integers(0, 1), key=KEYS, amounts=AMOUNTS)
    def reserve(self, who: int, key: str, amounts: dict[Account, int]) -> None:
        outcome = self._attempt(lambda: self.ledgers[who].reserve(key, amounts))
        if key in self.model.reserved:
            assert outcome is (None if self.model.reserved[key] == amounts else IntegrityError)
        elif min(amounts.values(), default=0) < 0:
            assert outcome is IntegrityError
        elif any(units > self.model.balance(account).available for account, units in amounts.items()):
            assert outcome is BudgetExceeded
        else:
            assert outcome is None
            self.model.reserved[key] = amounts

    @rule(who=st.integers(0, 1), key=KEYS, amounts=AMOUNTS)
    def settle(self, who: int, key: str, amounts: dict[Account, int]) -> None:
        outcome = self._attempt(lambda: self.ledgers[who].settle(key, amounts))
        held = self.model.reserved.get(key, {})
        charge = {account: units for account, units in amounts.items() if units}
        if key in self.model.ended:
            before = self.model.ended[key]
            same = before is not None and {account: units for account, units in before.items() if units} == charge
            assert outcome is (None if same else IntegrityError)
        elif key in self.model.reserved and all(0 <= units <= held.get(one, 0) for one, units in amounts.items()):
            assert outcome is None
            self.model.ended[key] = amounts
        else:
            assert outcome is IntegrityError

    @rule(who=st.integers(0, 1), key=KEYS, share=st.floats(0, 1))
    def settle_a_share(self, who: int, key: str, share: float) -> None:
        held = self.model.reserved.get(key)
        if held is not None and key not in self.model.ended:
            self.settle(who, key, {account: int(units * share) for account, units in held.items()})

    @rule(who=st.integers(0, 1), key=KEYS)
    def release(self, who: int, key: str) -> None:
        outcome = self._attempt(lambda: self.ledgers[who].release(key))
        known = key in self.model.reserved and self.model.ended.get(key) is None
        assert outcome is (None if known else IntegrityError)
        if known:
            self.model.ended[key] = None

    @rule(key=KEYS, amounts=AMOUNTS)
    def reserve_and_roll_back(self, key: str, amounts: dict[Account, int]) -> None:
        def reserve_and_fail() -> None:
            with self.run.store.transaction():
                self.ledgers[0].reserve(key, amounts)
                raise KeyError

        assert self._attempt(reserve_and_fail) in (KeyError, BudgetExceeded, IntegrityError)

    @invariant()
    def balances_are_the_models(self) -> None:
        balances = self.ledgers[0].balances()
        for account in ACCOUNTS:
            balance = balances[account]
            assert balance == self.model.balance(account)
            assert min(balance.available, balance.reserved, balance.spent) >= 0
            assert balance.available + balance.reserved + balance.spent == LIMITS[account]

    @invariant()
    def rows_and_events_agree(self) -> None:
        state = self.run.journal.state()
        self.ledgers[1].check_against(state)
        assert balances_from_events(self.run.journal.entries()) == self.ledgers[1].balances()
        verify_chain(self.run.journal.rows())

    @staticmethod
    def _attempt(call: Callable[[], None]) -> type[Exception] | None:
        try:
            call()
        except (BudgetExceeded, IntegrityError, KeyError) as error:
            return type(error)
        return None


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(
    max_examples=20, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
