"""How fast events become durable and how fast a chain is verified, each against a plain peer in the same process.

    disk        4 KiB written over an old block and synced, what one commit of a write-ahead log asks of the disk
    durable     Journal.append, one transaction an event, and many events a transaction
      peer      sqlite3 INSERTs of the same bytes into a bare table, with the same journal mode, sync level and commits
    postgres    the same on a private server with its default durability; then 16 runs at once from one process
      peer      psycopg INSERTs of the same bytes, one commit each
    verify      verify_chain over rows in memory, and read from the database
      peer      a loop of json.loads, json.dumps with sorted keys, and hashlib.sha256: what the chain must at least do

Figures are the best of several alternating rounds; compare the ratios, not the rates, between machines.
Run it with `python benchmarks/journal_speed.py [--events N] [--folder DIR]`, DIR on the disk that will be used.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg

from rsibench.errors import EnvironmentFault
from rsibench.journal.chain import verify_chain
from rsibench.journal.envelope import decode
from rsibench.journal.events import IncidentRecorded
from rsibench.journal.fold import fold
from rsibench.store.rows import EventRow
from rsibench.testing.postgres import PostgresServer, postgres_server
from rsibench.testing.run_builder import RunBuilder

ROUNDS = 3
GROUP = 50
RUNS_AT_ONCE = 16
BLOCK_BYTES = 4096
COPIES_OF_A_RUN = 250


def disk_syncs(folder: Path, writes: int) -> float:
    """Blocks a second that are written over old ones and synced one by one."""
    (folder / "blocks").write_bytes(bytes(BLOCK_BYTES * writes))
    with (folder / "blocks").open("r+b", buffering=0) as file:
        os.fsync(file.fileno())
        started = time.perf_counter()
        for _ in range(writes):
            file.write(b"x" * BLOCK_BYTES)
            os.fdatasync(file.fileno())
        return writes / (time.perf_counter() - started)


def durable_journal(folder: Path, events: int, group: int, url: str | None = None) -> float:
    """Events a second through the journal, `group` to a transaction."""
    with RunBuilder(folder, step_seconds=0.0, url=url) as run:
        run.prepare()
        told = [IncidentRecorded(incident="measured", detail=f"event {number}") for number in range(events)]
        started = time.perf_counter()
        for first in range(0, events, group):
            with run.store.transaction(run.run_id):
                for event in told[first : first + group]:
                    run.journal.append(event)
        return events / (time.perf_counter() - started)


def durable_peer(folder: Path, events: int, group: int) -> float:
    """Rows a second into a bare SQLite table of the same columns."""
    body = IncidentRecorded(incident="measured", detail="event 1234").canonical()
    row = ("pocket-built-1", "2030-01-01T00:00:00.000000Z", 1234, "incident.recorded", body, "0" * 64, "0" * 64)
    with closing(sqlite3.connect(folder / "peer.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(
            "CREATE TABLE events (run_id TEXT, seq INTEGER, at TEXT, elapsed_ms INTEGER, kind TEXT, body BLOB,"
            " previous_hash TEXT, hash TEXT, PRIMARY KEY (run_id, seq))"
        )
        started = time.perf_counter()
        for first in range(0, events, group):
            connection.execute("BEGIN IMMEDIATE")
            for seq in range(first, min(first + group, events)):
                connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (row[0], seq, *row[1:]))
            connection.execute("COMMIT")
        return events / (time.perf_counter() - started)


def many_runs(folder: Path, url: str, events: int) -> float:
    """Events a second of several runs that are written at once, one transaction an event."""
    with ExitStack() as stack:
        runs = [
            stack.enter_context(RunBuilder(folder / str(number), run_id=f"run-{number}", step_seconds=0.0, url=url))
            for number in range(RUNS_AT_ONCE)
        ]
        for run in runs:
            run.prepare()

        def write(run: RunBuilder) -> None:
            for number in range(events // RUNS_AT_ONCE):
                run.journal.append(IncidentRecorded(incident="measured", detail=f"event {number}"))

        with ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
            started = time.perf_counter()
            list(pool.map(write, runs))
            return events // RUNS_AT_ONCE * RUNS_AT_ONCE / (time.perf_counter() - started)


def postgres_peer(url: str, events: int) -> float:
    """Rows a second into a bare Postgres table, one commit each."""
    body = IncidentRecorded(incident="measured", detail="event 1234").canonical()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE peer (run_id TEXT, seq BIGINT, at TEXT, elapsed_ms BIGINT, kind TEXT, body BYTEA,"
            " previous_hash TEXT, hash TEXT, PRIMARY KEY (run_id, seq))"
        )
        started = time.perf_counter()
        for seq in range(events):
            row = ("run-1", seq, "2030-01-01T00:00:00.000000Z", 1234, "incident.recorded", body, "0" * 64, "0" * 64)
            connection.execute("INSERT INTO peer VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", row)
        return events / (time.perf_counter() - started)


def compare_postgres(root: Path, server: PostgresServer, events: int) -> None:
    """Measures and prints what Postgres makes durable, for one run and for several at once."""

    def fresh() -> str:
        return server.url(server.new_database())

    peer = best(root, lambda _folder: postgres_peer(fresh(), events))
    one = best(root, lambda folder: durable_journal(folder, events, 1, fresh()))
    report("postgres, one an event", one, "psycopg inserts", peer)
    many = best(root, lambda folder: many_runs(folder, fresh(), events * 4))
    report(f"postgres, {RUNS_AT_ONCE} runs at once", many, "psycopg inserts", peer)


def verify_memory(rows: Sequence[EventRow]) -> float:
    """Events a second checked by `verify_chain`."""
    started = time.perf_counter()
    for _ in range(COPIES_OF_A_RUN):
        verify_chain(rows)
    return COPIES_OF_A_RUN * len(rows) / (time.perf_counter() - started)


def verify_and_fold(rows: Sequence[EventRow]) -> float:
    """Events a second checked, decoded into their models and folded into the run's state."""
    started = time.perf_counter()
    for _ in range(COPIES_OF_A_RUN):
        verify_chain(rows)
        fold(map(decode, rows))
    return COPIES_OF_A_RUN * len(rows) / (time.perf_counter() - started)


def verify_peer(rows: Sequence[EventRow]) -> float:
    """Events a second read and hashed by a plain loop that re-serialises every body."""
    started = time.perf_counter()
    for _ in range(COPIES_OF_A_RUN):
        previous = ""
        for row in rows:
            columns = [previous, row.run_id, row.seq, row.at, row.elapsed_ms, row.kind, json.loads(row.body)]
            text = json.dumps(columns, sort_keys=True, separators=(",", ":"))
            previous = hashlib.sha256(text.encode()).hexdigest()
    return COPIES_OF_A_RUN * len(rows) / (time.perf_counter() - started)


def verify_database(folder: Path, events: int) -> float:
    """Events a second checked while they are read from a long journal."""
    with RunBuilder(folder, step_seconds=0.0) as run:
        run.prepare()
        with run.store.transaction():
            for number in range(events):
                run.journal.append(IncidentRecorded(incident="measured", detail=f"event {number}"))
        started = time.perf_counter()
        checked = verify_chain(run.journal.rows()).events
        return checked / (time.perf_counter() - started)


def best(root: Path, measure: Callable[[Path], float]) -> float:
    """The best of several rounds, each in a folder of its own."""
    return max(measure(Path(tempfile.mkdtemp(dir=root))) for _ in range(ROUNDS))


def main() -> None:
    """Prints one line a figure: rate, the peer's rate, and their ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000, help="events to make durable in each round")
    parser.add_argument("--folder", type=Path, default=None, help="where to put the databases")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        root = Path(name)
        syncs = best(root, lambda folder: disk_syncs(folder, arguments.events))
        print(f"{'disk, 4 KiB and fdatasync':28} {syncs:10,.0f} a second")
        compare_durable(root, "durable, one an event", arguments.events, group=1)
        compare_durable(root, f"durable, {GROUP} a transaction", arguments.events * 5, group=GROUP)
        try:
            with postgres_server() as server:
                compare_postgres(root, server, arguments.events)
        except EnvironmentFault as fault:
            print(f"postgres was not measured: {fault}")
        with RunBuilder(Path(tempfile.mkdtemp(dir=root))) as run:
            rows = tuple(run.whole().journal.rows())
        peer = best(root, lambda _folder: verify_peer(rows))
        report("verify, rows in memory", best(root, lambda _folder: verify_memory(rows)), "json and hashlib", peer)
        report("verify and fold", best(root, lambda _folder: verify_and_fold(rows)), "json and hashlib", peer)
        database = best(root, lambda folder: verify_database(folder, arguments.events * 5))
        report("verify, from the database", database, "json and hashlib", peer)


def compare_durable(root: Path, title: str, events: int, group: int) -> None:
    """Measures and prints both ways of making events durable."""
    ours = best(root, lambda folder: durable_journal(folder, events, group))
    report(title, ours, "sqlite3 inserts", best(root, lambda folder: durable_peer(folder, events, group)))


def report(title: str, ours: float, peer_name: str, peer: float) -> None:
    """One line of the table."""
    print(f"{title:28} {ours:10,.0f} events/s   {peer_name:16} {peer:10,.0f} events/s   ratio {ours / peer:5.2f}")


if __name__ == "__main__":
    main()
