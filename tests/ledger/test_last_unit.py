"""The last unit, on both databases: of all who reach for it at once one gets it, in a thousand random orders."""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from rsibench.errors import BudgetExceeded
from rsibench.journal.chain import verify_chain
from rsibench.journal.journal import Journal
from rsibench.ledger.ledger import Ledger
from rsibench.ledger.replay import balances_from_events
from rsibench.ports.clock import SystemClock
from rsibench.store.store import Store
from rsibench.testing.run_builder import RunBuilder
from rsibench.units import Account

ROUNDS = 1_000
PROCESS_ROUNDS = 150
RACERS = 3
MOST_HEAD_START_SECONDS = 0.001
ALL_ATTEMPTS = {Account.ATTEMPTS: 4}
"""What the built run has of this account: whoever gets it leaves nothing."""


@pytest.fixture
def run(url: str, tmp_path: Path) -> Iterator[RunBuilder]:
    """A prepared run."""
    with RunBuilder(tmp_path, url=url) as built:
        built.prepare()
        yield built


def _reach(ledger: Ledger, key: str) -> str:
    try:
        ledger.reserve(key, ALL_ATTEMPTS)
    except BudgetExceeded:
        return "refused"
    return "won"


def _spin(seconds: float) -> None:
    """Waits without giving up the processor's time slice, so that orders differ by less than a scheduler's tick."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def _check_whole(run: RunBuilder, rounds: int) -> None:
    """Rows, events and chain agree, every round left its one reservation and nothing is held or spent."""
    state = run.journal.state()
    run.ledger.check_against(state)
    verify_chain(run.journal.rows())
    assert balances_from_events(run.journal.entries()) == run.ledger.balances()
    assert Counter(key.split("/")[0] for key in state.reservations if key.startswith("round-")) == {
        f"round-{number}": 1 for number in range(rounds)
    }
    assert run.ledger.balances()[Account.ATTEMPTS].available == ALL_ATTEMPTS[Account.ATTEMPTS]


def test_of_several_submitters_exactly_one_gets_the_last_unit(run: RunBuilder, url: str) -> None:
    seeded = random.Random(20_301)
    with ExitStack() as stack:
        # Two share a store as threads of one controller do, one has its own as another machine has.
        other = stack.enter_context(closing(Store.open(url)))
        third = Ledger(other, Journal(other, run.run_id, run.clock))
        ledgers = (run.ledger, run.ledger, third)
        gate = threading.Barrier(RACERS, timeout=60)
        plans = [[seeded.random() * MOST_HEAD_START_SECONDS for _ in range(ROUNDS)] for _ in range(RACERS)]
        outcomes: list[list[str]] = [[] for _ in range(RACERS)]

        def race(racer: int) -> None:
            for number in range(ROUNDS):
                gate.wait()
                _spin(plans[racer][number])
                outcomes[racer].append(_reach(ledgers[racer], f"round-{number}/{racer}"))
                gate.wait()
                if outcomes[racer][-1] == "won":
                    ledgers[racer].release(f"round-{number}/{racer}")

        racers = [threading.Thread(target=race, args=(racer,)) for racer in range(RACERS)]
        for one in racers:
            one.start()
        for one in racers:
            one.join()
    rounds = [Counter(found) for found in zip(*outcomes, strict=True)]
    assert rounds == [{"won": 1, "refused": RACERS - 1}] * ROUNDS
    _check_whole(run, ROUNDS)


def _race_as_a_process(url: str, run_id: str, racer: int, gate: Barrier, won: list[int]) -> None:
    with closing(Store.open(url)) as store:
        ledger = Ledger(store, Journal(store, run_id, SystemClock()))
        seeded = random.Random(racer)
        for number in range(PROCESS_ROUNDS):
            gate.wait(timeout=60)
            _spin(seeded.random() * MOST_HEAD_START_SECONDS)
            outcome = _reach(ledger, f"round-{number}/{racer}")
            gate.wait(timeout=60)
            if outcome == "won":
                won.append(number)
                ledger.release(f"round-{number}/{racer}")


@pytest.mark.chaos
def test_of_several_processes_exactly_one_gets_the_last_unit(run: RunBuilder, url: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager:
        won = manager.list()
        gate = spawn.Barrier(RACERS)
        racers = [
            spawn.Process(target=_race_as_a_process, args=(url, run.run_id, racer, gate, won))
            for racer in range(RACERS)
        ]
        for one in racers:
            one.start()
        for one in racers:
            one.join(timeout=120)
        assert [one.exitcode for one in racers] == [0] * RACERS
        assert sorted(won) == list(range(PROCESS_ROUNDS))
    _check_whole(run, PROCESS_ROUNDS)
