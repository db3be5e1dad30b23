"""A thousand random interleavings of submitters that race for the last unit: never two winners, on either database."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rsibench.errors import BudgetExceeded
from rsibench.journal.chain import verify_chain
from rsibench.journal.journal import Journal
from rsibench.ledger.ledger import Ledger
from rsibench.store.store import Store
from rsibench.testing.postgres import PostgresServer, server_programs
from rsibench.testing.run_builder import LIMITS, RunBuilder
from rsibench.units import Account

INTERLEAVINGS = 1_000
_ROUNDS_A_RUN = 100


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    if request.param == "sqlite":
        yield None
        return
    if server_programs() is None:
        pytest.skip("no PostgreSQL server is installed")
    server: PostgresServer = request.getfixturevalue("postgres")
    yield server.new_database()


class _Racers:
    """Two submitters with stores of their own, as two controllers on two machines have them."""

    def __init__(self, run: RunBuilder) -> None:
        self.stores = [Store.open(run.url) for _ in range(2)]
        self.ledgers = [Ledger(store, Journal(store, run.run_id, run.clock)) for store in self.stores]

    def race(self, key: str, amounts: list[int], delays: list[float]) -> list[int]:
        """Both reserve their amounts of dollars; which of them were admitted."""
        admitted: list[int] = []
        gate = threading.Barrier(2)

        def reserve(number: int) -> None:
            gate.wait()
            threading.Event().wait(delays[number])
            try:
                self.ledgers[number].reserve(
                    f"{key}/{number}", {Account.TRAINING: amounts[number], Account.ATTEMPTS: 1}
                )
            except BudgetExceeded:
                return
            admitted.append(number)

        racers = [threading.Thread(target=reserve, args=(number,)) for number in range(2)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        return admitted

    def close(self) -> None:
        for store in self.stores:
            store.close()


@pytest.mark.timeout(300)
def test_of_two_that_do_not_both_fit_exactly_one_is_admitted(tmp_path: Path, url: str | None) -> None:
    dice = random.Random(7)
    limit = LIMITS[Account.TRAINING]
    for batch in range(INTERLEAVINGS // _ROUNDS_A_RUN):
        with RunBuilder(tmp_path / str(batch), run_id=f"race-{batch}", url=url) as run:
            run.prepare()
            free = run.journal.state().balances[Account.TRAINING].available
            assert free == limit
            racers = _Racers(run)
            for number in range(_ROUNDS_A_RUN):
                first = dice.randint(1, free)
                amounts = [first, dice.randint(free - first + 1, free)]  # each fits alone, both together do not
                delays = [dice.choice((0.0, 0.0, 0.0005)), dice.choice((0.0, 0.0, 0.0005))]
                (winner,) = racers.race(f"round-{number}", amounts, delays)
                run.ledger.release(f"round-{number}/{winner}")
            racers.close()
            run.ledger.check_against(run.journal.state())
            verify_chain(run.journal.rows())
