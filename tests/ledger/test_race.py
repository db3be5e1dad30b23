"""Callers at once: two reservations race for the last unit, and exactly one wins, every time."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

from rsibench.errors import BudgetExceeded
from rsibench.journal.chain import verify_chain
from rsibench.journal.journal import Journal
from rsibench.ledger.ledger import Ledger
from rsibench.store.dialect import sqlite_url
from rsibench.store.store import Store
from rsibench.testing.run_builder import RunBuilder
from rsibench.units import Account

ROUNDS = 40


def _race(ledgers: tuple[Ledger, ...], key: str) -> Counter[str]:
    """Every ledger reserves the one attempt that is left, all at once; counts who got it."""
    gate = threading.Barrier(len(ledgers))
    outcomes: list[str] = []

    def grab(number: int, ledger: Ledger) -> None:
        gate.wait()
        try:
            ledger.reserve(f"{key}/{number}", {Account.ATTEMPTS: 4})
        except BudgetExceeded:
            outcomes.append("refused")
        else:
            outcomes.append("won")

    racers = [threading.Thread(target=grab, args=each) for each in enumerate(ledgers)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    return Counter(outcomes)


def _repeat(run: RunBuilder, ledgers: tuple[Ledger, ...]) -> None:
    for number in range(ROUNDS):
        assert _race(ledgers, f"round-{number}") == {"won": 1, "refused": len(ledgers) - 1}
        (held,) = [one.key for one in run.journal.state().reservations.values() if one.holding == "reserved"]
        run.ledger.release(held)
    run.ledger.check_against(run.journal.state())
    verify_chain(run.journal.rows())


def test_threads_of_one_store(run: RunBuilder) -> None:
    _repeat(run, (run.ledger,) * 3)


def test_two_stores_on_one_file_as_two_processes_have_them(run: RunBuilder, tmp_path: Path) -> None:
    other = Store.open(sqlite_url(tmp_path / "rsibench.sqlite"))
    _repeat(run, (run.ledger, Ledger(other, Journal(other, run.run_id, run.clock))))
    other.close()
