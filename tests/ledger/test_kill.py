"""A controller killed with SIGKILL leaves ledger and journal in agreement, and what it reported as done is there."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from rsibench.journal.chain import verify_chain
from rsibench.journal.journal import Journal
from rsibench.ledger.ledger import Ledger
from rsibench.ports.clock import SystemClock
from rsibench.store.dialect import sqlite_url
from rsibench.store.holding import Holding
from rsibench.store.store import Store
from rsibench.testing.run_builder import RunBuilder

KILLS = 8
WORKER = """
import sys
from pathlib import Path
from rsibench.journal.journal import Journal
from rsibench.ledger.ledger import Ledger
from rsibench.ports.clock import SystemClock
from rsibench.store.dialect import sqlite_url
from rsibench.store.store import Store
from rsibench.units import Account

store = Store.open(sqlite_url(Path(sys.argv[1])))
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
from pathlib import Path
from rsibench.journal.journal import Journal
from rsibench.ledger.ledger import Ledger
from rsibench.ports.clock import SystemClock
from rsibench.store.dialect import sqlite_url
from rsibench.store.store import Store
from rsibench.units import Account

store = Store.open(sqlite_url(Path(sys.argv[1])))
ledger = Ledger(store, Journal(store, sys.argv[2], SystemClock()))
ledger.reserve("kept", {Account.TRAINING: 7})
with store.transaction():
    ledger.settle("kept", {Account.TRAINING: 5})
    ledger.reserve("lost", {Account.TRAINING: 9})
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.chaos
def test_a_kill_inside_a_transaction_leaves_nothing_of_it(tmp_path: Path) -> None:
    with RunBuilder(tmp_path) as run:
        run.prepare()
    path = tmp_path / "rsibench.sqlite"
    killed = subprocess.run([sys.executable, "-c", INSIDE, str(path), run.run_id], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    _check(path, run.run_id, {"kept": "reserved"})
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT key, state FROM reservations").fetchall() == [("kept", "reserved")]


@pytest.mark.chaos
def test_rows_and_events_agree_after_every_kill(tmp_path: Path) -> None:
    with RunBuilder(tmp_path) as run:
        run.prepare()
    path = tmp_path / "rsibench.sqlite"
    acknowledged: dict[str, str] = {}
    for kill in range(KILLS):
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), run.run_id, f"kill-{kill}"], stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout is not None
        for _ in range(3 + 5 * kill):
            done, key = worker.stdout.readline().split()
            acknowledged[key] = done
        worker.kill()
        for line in worker.stdout:
            done, key = line.split()
            acknowledged[key] = done
        worker.stdout.close()
        worker.wait()
        _check(path, run.run_id, acknowledged)


def _check(path: Path, run_id: str, acknowledged: dict[str, str]) -> None:
    store = Store.open(sqlite_url(path))
    journal = Journal(store, run_id, SystemClock())
    state = journal.state()
    Ledger(store, journal).check_against(state)
    verify_chain(journal.rows())
    for key, done in acknowledged.items():
        later = {"reserved": set(Holding), "settled": {Holding.SETTLED}, "released": {Holding.RELEASED}}[done]
        assert state.reservations[key].holding in later
    store.close()
