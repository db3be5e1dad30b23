"""Budgets: what one run may spend. Accounts are not transferable."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field, PlainSerializer

from rsibench.spec.frozen import Frozen
from rsibench.units import Account, to_units

Usd = Annotated[Decimal, Field(ge=0), PlainSerializer(str, return_type=str, when_used="json")]
"""Dollars, exact; a decimal string in JSON."""


class Budget(Frozen):
    """Limits of one run, in whole seconds, dollars and attempts, and the rules of its last minutes."""

    wall_seconds: int = Field(gt=0)
    training_usd: Usd
    sampling_usd: Usd
    researcher_usd: Usd
    rollout_usd: Usd
    attempts: int = Field(ge=0)
    final_window_seconds: int = Field(ge=0)
    """In so many last seconds no attempt may start; the run closes with the selection made or the default rule."""
    max_early_stops: int = Field(ge=0)
    """How often a researcher that stops early with budget left is resumed with one fixed message."""

    def limits(self) -> dict[Account, int]:
        """Every account's limit in its smallest unit."""
        whole: dict[Account, Decimal | int] = {
            Account.WALL: self.wall_seconds,
            Account.TRAINING: self.training_usd,
            Account.SAMPLING: self.sampling_usd,
            Account.RESEARCHER: self.researcher_usd,
            Account.ROLLOUT: self.rollout_usd,
            Account.ATTEMPTS: self.attempts,
        }
        return {account: to_units(account, value) for account, value in whole.items()}


class BudgetChange(Frozen):
    """What is changed in a profile's budget; a part that is not named stays. A changed budget is another protocol."""

    wall_seconds: int | None = Field(default=None, gt=0)
    training_usd: Usd | None = None
    sampling_usd: Usd | None = None
    researcher_usd: Usd | None = None
    rollout_usd: Usd | None = None
    attempts: int | None = Field(default=None, ge=0)
    final_window_seconds: int | None = Field(default=None, ge=0)
    max_early_stops: int | None = Field(default=None, ge=0)

    def applied(self, budget: Budget) -> Budget:
        """`budget` with the named parts replaced. Nothing named gives an equal budget."""
        return budget.model_copy(update=self.model_dump(exclude_none=True))
