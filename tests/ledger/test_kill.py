"""A controller or a server that is killed leaves ledger and journal in agreement, and what was reported is there."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

import pytest

from rsibench.journal.chain import verify_chain
from rsibench.journal.journal import Journal
from rsibench.ledger.ledger import Ledger
from rsibench.ports.clock import SystemClock
from rsibench.store.accounts import reservation_rows
from rsibench.store.holding import Holding
from rsibench.store.store import Store
from rsibench.testing.postgres import PostgresServer
from rsibench.testing.run_builder import RunBuilder

KILLS = 8
CRASHES = 3
WORKER = """
import sys
from rsibench.journal.journal import Journal
from rsibench.ledger.ledger import Ledger
from rsibench.ports.clock import SystemClock
from rsibench.store.store import Store
from rsibench.units import Account

store = Store.open(sys.argv[1])
ledger = Ledger(store, Journal(store, sys.argv[2], SystemClock()))
number = 0
while True:
    number += 1
    key = f"{sys.argv[3]}/{number}"
    ledger.reserve(key, {Account.TRAINING: 7, Account.SAMPLING: 3})
    print("reserved", key, flush=True)
    if number % 2:
        ledger.settle(key, {Account.TRAINING: 1})
        print("settled", key, flush=True)
    else:
        ledger.release(key)
        print("released", key, flush=True)
"""

INSIDE = """
import os
import signal
import sys
from rsibench.journal.journal import Journal
from rsibench.ledger.ledger import Ledger
from rsibench.ports.clock import SystemClock
from rsibench.store.store import Store
from rsibench.units import Account

store = Store.open(sys.argv[1])
ledger = Ledger(store, Journal(store, sys.argv[2], SystemClock()))
ledger.reserve("kept", {Account.TRAINING: 7})
with store.transaction(sys.argv[2]):
    ledger.settle("kept", {Account.TRAINING: 5})
    ledger.reserve("lost", {Account.TRAINING: 9})
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def prepared(url: str, tmp_path: Path) -> str:
    """A prepared run in the store at `url`; its name."""
    with RunBuilder(tmp_path, url=url) as run:
        run.prepare()
        return run.run_id


@pytest.mark.chaos
def test_a_kill_inside_a_transaction_leaves_nothing_of_it(url: str, prepared: str) -> None:
    killed = subprocess.run([sys.executable, "-c", INSIDE, url, prepared], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    _check(url, prepared, {"kept": "reserved"})
    with closing(Store.open(url)) as store, store.reading() as connection:
        rows = reservation_rows(connection, prepared).values()
        assert [(row.key, row.holding) for row in rows] == [("kept", Holding.RESERVED)]


@pytest.mark.chaos
def test_rows_and_events_agree_after_every_kill(url: str, prepared: str) -> None:
    acknowledged: dict[str, str] = {}
    for kill in range(KILLS):
        with _worker(url, prepared, f"kill-{kill}") as worker:
            acknowledged |= _read(worker, 3 + 5 * kill)
            worker.kill()
            acknowledged |= _read(worker)
        _check(url, prepared, acknowledged)


@pytest.mark.chaos
def test_what_a_server_acknowledged_survives_its_crash(
    postgres: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    acknowledged: dict[str, str] = {}
    with RunBuilder(tmp_path, url=postgres_url) as run:
        run.prepare()
    for crash in range(CRASHES):
        with _worker(postgres_url, run.run_id, f"crash-{crash}") as worker:
            acknowledged |= _read(worker, 10 + 7 * crash)
            postgres.kill()
            postgres.start()
            # It was in the middle of something or not: it has ended with a fault, or goes on as if nothing had been.
            acknowledged |= _read(worker, 6)
            worker.kill()
            acknowledged |= _read(worker)
        _check(postgres_url, run.run_id, acknowledged)


@contextmanager
def _worker(url: str, run_id: str, name: str) -> Iterator[subprocess.Popen[str]]:
    """A controller in a process of its own, which says what it has done."""
    command = [sys.executable, "-c", WORKER, url, run_id, name]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield worker
    finally:
        worker.kill()
        worker.communicate()


def _read(worker: subprocess.Popen[str], lines: int | None = None) -> dict[str, str]:
    """What a worker reported: the next few lines, or all until its end."""
    assert worker.stdout is not None
    told = islice(worker.stdout, lines)
    return {key: done for done, key in (line.split() for line in told)}


def _check(url: str, run_id: str, acknowledged: dict[str, str]) -> None:
    with closing(Store.open(url)) as store:
        journal = Journal(store, run_id, SystemClock())
        state = journal.state()
        Ledger(store, journal).check_against(state)
        verify_chain(journal.rows())
    for key, done in acknowledged.items():
        later = {"reserved": set(Holding), "settled": {Holding.SETTLED}, "released": {Holding.RELEASED}}[done]
        assert state.reservations[key].holding in later
