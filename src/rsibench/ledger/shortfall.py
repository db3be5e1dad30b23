"""Shortfall: an account that has less left than was asked of it, in words that people can act on."""

from __future__ import annotations

from typing import NamedTuple

from rsibench.errors import BudgetExceeded
from rsibench.journal.balance import Balance
from rsibench.units import Account, to_whole

_ADVICE = {
    Account.WALL: "less time is left than this needs; select an attempt and finish",
    Account.TRAINING: "train on fewer tokens (fewer or shorter rows, fewer epochs)",
    Account.SAMPLING: "no further evaluation fits; select an attempt and finish",
    Account.RESEARCHER: "the researcher's model may not be called again; finish with what there is",
    Account.ROLLOUT: "use fewer or shorter rollouts",
    Account.ATTEMPTS: "no attempts are left; select one of those made",
}


class Shortfall(NamedTuple):
    """`asked` is in the account's smallest unit and larger than what `balance` has available."""

    account: Account
    asked: int
    balance: Balance

    def __str__(self) -> str:
        asked, available, limit, reserved, spent = (
            _whole(self.account, units) for units in (self.asked, self.balance.available, *self.balance)
        )
        return f"{self.account}: asked {asked}, available {available} of {limit} ({reserved} reserved, {spent} spent)"

    @property
    def advice(self) -> str:
        """What the one who asked can do about it."""
        return _ADVICE[self.account]


def exceeded(where: str, shortfalls: tuple[Shortfall, ...]) -> BudgetExceeded:
    """The error for a reservation with at least one shortfall; it names every account."""
    what = "; ".join(str(each) for each in shortfalls)
    return BudgetExceeded(what, where=where, fix="; ".join(each.advice for each in shortfalls))


def _whole(account: Account, units: int) -> str:
    """Units as whole dollars, seconds or attempts, with no more decimals than they need and never an exponent."""
    text = f"{to_whole(account, units):.6f}".rstrip("0").rstrip(".")
    return f"${text}" if account.value.endswith("_usd") else text
