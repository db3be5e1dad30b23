"""Balances recomputed from the journal's events alone, for checking the ledger's rows offline."""

from __future__ import annotations

from collections.abc import Iterable

from rsibench.journal.balance import Balance
from rsibench.journal.envelope import Entry
from rsibench.journal.fold import fold
from rsibench.units import Account


def balances_from_events(entries: Iterable[Entry]) -> dict[Account, Balance]:
    """Every opened account's balance after `entries`, a journal from its first event. Raises IntegrityError."""
    return dict(fold(entries).balances)
