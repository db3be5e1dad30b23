"""Balance: what one account of a run may spend, has set aside and has spent, in its smallest unit."""

from __future__ import annotations

from typing import NamedTuple


class Balance(NamedTuple):
    """Invariant: limit = available + reserved + spent, and none of them is negative."""

    limit: int
    reserved: int
    spent: int

    @property
    def available(self) -> int:
        """What can still be reserved."""
        return self.limit - self.reserved - self.spent
