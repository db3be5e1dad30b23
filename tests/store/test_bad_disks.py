"""Disks that are full or read only: a fault that says so, and what was reported as written is still there."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from psycopg import sql

from rsibench.errors import EnvironmentFault
from rsibench.journal.chain import verify_chain
from rsibench.journal.events import IncidentRecorded
from rsibench.journal.journal import Journal
from rsibench.ports.clock import SystemClock
from rsibench.store.dialect import sqlite_url
from rsibench.store.store import Store
from rsibench.testing.postgres import PostgresServer
from rsibench.testing.run_builder import RunBuilder

FILL = """
import resource, sys
from contextlib import closing
from pathlib import Path
from rsibench.errors import EnvironmentFault
from rsibench.journal.events import IncidentRecorded
from rsibench.journal.journal import Journal
from rsibench.ports.clock import SystemClock
from rsibench.store.blobs import Blobs
from rsibench.store.dialect import sqlite_url
from rsibench.store.store import Store

folder, run_id, most_bytes = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with closing(Store.open(sqlite_url(folder / "rsibench.sqlite"))) as store:
    journal = Journal(store, run_id, SystemClock())
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    last = 0
    try:
        while True:
            last = journal.append(IncidentRecorded(incident="long", detail="x" * 2000)).seq
    except EnvironmentFault as fault:
        print(last, fault)
try:
    Blobs(folder / "blobs").put(bytes(2 * most_bytes))
except EnvironmentFault as fault:
    print("blob", fault)
"""
MOST_BYTES = 400_000
OPEN_AS = """
import os, sys
from rsibench.errors import EnvironmentFault
from rsibench.store.dialect import make_engine
from rsibench.store.store import Store

make_engine("sqlite:////tmp/unused")  # loads what another user may not be able to read
if sys.argv[1]:  # root may write everywhere
    os.setgroups([])
    os.setuid(int(sys.argv[1]))
for url in sys.argv[2:]:
    try:
        Store.open(url)
    except EnvironmentFault as fault:
        print(fault)
"""


def _fill(store: Store, run_id: str) -> tuple[int, str]:
    """Appends until the disk is full; the last number that was reported as written, and the fault."""
    journal = Journal(store, run_id, SystemClock())
    last = 0
    for _ in range(20_000):
        try:
            last = journal.append(IncidentRecorded(incident="long", detail=os.urandom(4_000).hex())).seq
        except EnvironmentFault as fault:
            return last, str(fault)
    raise AssertionError("the disk never became full")


def test_a_file_that_cannot_grow_is_reported_and_keeps_what_was_written(tmp_path: Path) -> None:
    with RunBuilder(tmp_path) as run:
        run.prepare()
        run_id = run.run_id
    command = [sys.executable, "-c", FILL, str(tmp_path), run_id, str(MOST_BYTES)]
    filled = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    events_line, blob_line = filled.stdout.splitlines()
    last, _, fault = events_line.partition(" ")
    assert "it cannot be used" in fault
    assert "space" in fault
    assert blob_line.startswith("blob blobs in ")
    assert "space" in blob_line
    with closing(Store.open(sqlite_url(tmp_path / "rsibench.sqlite"))) as store:
        journal = Journal(store, run_id, SystemClock())
        assert verify_chain(journal.rows()).events == int(last) > 0
        assert journal.append(IncidentRecorded(incident="short", detail="there is space again")).seq == int(last) + 1


def test_a_folder_that_may_not_be_written_is_named() -> None:
    with tempfile.TemporaryDirectory(prefix="rsibench-closed-") as name:
        closed = Path(name)
        Store.open(sqlite_url(closed / "a.sqlite")).close()
        closed.chmod(0o555)
        (closed / "a.sqlite").chmod(0o444)
        urls = [sqlite_url(closed / one) for one in ("a.sqlite", "new.sqlite", "deeper/new.sqlite")]
        user = str(pwd.getpwnam("nobody").pw_uid) if os.geteuid() == 0 else ""
        command = [sys.executable, "-c", OPEN_AS, user, *urls]
        opened = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        closed.chmod(0o755)
    lines = opened.stdout.splitlines()
    assert len(lines) == len(urls), opened.stdout
    for line, url in zip(lines, urls, strict=True):
        assert url in line
        assert "can be written" in line


@pytest.fixture
def small_disk(postgres: PostgresServer, tmp_path: Path) -> Iterator[str]:
    """The name of a tablespace of a few megabytes."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    owner = Path(f"/proc/{postgres.pid}").stat()
    mount = Path("/tmp") / f"rsibench-small-{os.getpid()}"
    mount.mkdir(mode=0o700)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", mount], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        mount.rmdir()
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    os.chown(mount, owner.st_uid, owner.st_gid)
    postgres.execute(sql.SQL("CREATE TABLESPACE small LOCATION {}").format(sql.Literal(str(mount))))
    yield "small"
    postgres.execute(sql.SQL("DROP DATABASE IF EXISTS on_small_disk"))
    postgres.execute(sql.SQL("DROP TABLESPACE small"))
    subprocess.run(["umount", mount], check=True)
    mount.rmdir()


def test_a_full_disk_of_a_server_is_reported_and_keeps_what_was_written(
    postgres: PostgresServer, small_disk: str, tmp_path: Path
) -> None:
    postgres.execute(sql.SQL("CREATE DATABASE on_small_disk TABLESPACE {}").format(sql.Identifier(small_disk)))
    url = postgres.url("on_small_disk")
    with RunBuilder(tmp_path, url=url) as run:
        run.prepare()
        last, fault = _fill(run.store, run.run_id)
        assert "the server's disk is full" in fault
        assert verify_chain(run.journal.rows()).events == last > 0
