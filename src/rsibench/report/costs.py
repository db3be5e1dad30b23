"""What each account of a run's budget held and what was spent of it."""

from __future__ import annotations

from typing import NamedTuple

from rsibench.report.wording import ACCOUNTS, amount
from rsibench.run.record import RunRecord
from rsibench.units import MILLISECONDS_PER_SECOND, Account


class AccountUse(NamedTuple):
    """One account in its smallest units. `share` is spent of limit, None for an account without a budget."""

    account: Account
    name: str
    limit_units: int
    spent_units: int

    @property
    def share(self) -> float | None:
        return self.spent_units / self.limit_units if self.limit_units else None

    @property
    def spent(self) -> str:
        return amount(self.account, self.spent_units)

    @property
    def limit(self) -> str:
        return amount(self.account, self.limit_units)

    @property
    def left(self) -> str:
        return amount(self.account, max(0, self.limit_units - self.spent_units))


def account_uses(record: RunRecord) -> tuple[AccountUse, ...]:
    """Every account that the result lists; research time comes from the record, the result leaves it out."""
    result = record.result
    uses = []
    for account in Account:
        if account not in result.limits:
            continue
        spent = result.spent.get(account, 0)
        if account is Account.WALL:
            spent = round(record.research_seconds * MILLISECONDS_PER_SECOND)
        uses.append(AccountUse(account, ACCOUNTS[account], result.limits[account], spent))
    return tuple(uses)
