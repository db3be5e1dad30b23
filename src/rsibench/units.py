"""Units of the ledger: every account holds a whole number of its smallest unit, so that sums are exact.

Dollar accounts count micro-dollars, the wall account milliseconds, the attempts account attempts.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from enum import StrEnum

MICRO_USD_PER_USD = 1_000_000
MILLISECONDS_PER_SECOND = 1_000


class Account(StrEnum):
    """What a run's budget is divided into. Money in one account can never pay for another."""

    WALL = "wall_seconds"
    TRAINING = "training_usd"
    SAMPLING = "sampling_usd"
    RESEARCHER = "researcher_usd"
    ROLLOUT = "rollout_usd"
    ATTEMPTS = "attempts"


UNITS_PER_WHOLE: dict[Account, int] = {
    Account.WALL: MILLISECONDS_PER_SECOND,
    Account.TRAINING: MICRO_USD_PER_USD,
    Account.SAMPLING: MICRO_USD_PER_USD,
    Account.RESEARCHER: MICRO_USD_PER_USD,
    Account.ROLLOUT: MICRO_USD_PER_USD,
    Account.ATTEMPTS: 1,
}


def to_units(account: Account, whole: Decimal | int | float) -> int:
    """Whole dollars, seconds or attempts as the account's smallest unit, rounded up."""
    exact = Decimal(str(whole)) * UNITS_PER_WHOLE[account]
    return int(exact.to_integral_value(rounding=ROUND_CEILING))


def to_whole(account: Account, units: int) -> float:
    """The account's smallest units as dollars, seconds or attempts, for people to read."""
    return units / UNITS_PER_WHOLE[account]


def token_cost_micro_usd(tokens: int, usd_per_million: Decimal) -> int:
    """Cost of `tokens` in micro-dollars, rounded up: a dollar a million is one micro-dollar a token."""
    if tokens < 0:
        raise ValueError(f"a negative number of tokens cannot cost anything: {tokens}")
    return int((tokens * usd_per_million).to_integral_value(rounding=ROUND_CEILING))
