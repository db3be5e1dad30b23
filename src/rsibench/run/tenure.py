"""Tenure: the right of one controller to write a run's journal, kept for as long as it works, on whatever machine.

Two locks, because each knows what the other cannot. The file lock in the run's folder is let go by the system the
moment a controller dies, but only processes that share the folder see it. The lease in the store is seen from every
machine, but of a controller that died it says so only when its time is over. Whoever has the file lock may take over at
once a lease that was held from the same folder: its holder can only be dead.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO

from rsibench.errors import EnvironmentFault, LabError
from rsibench.store.leases import (
    Fence,
    Lease,
    LeaseRow,
    acquire,
    database_time,
    fence_of,
    lease_rows,
    release,
    renew,
)
from rsibench.store.store import Store

TTL_SECONDS = 60.0
RENEW_SECONDS = 15.0


@contextmanager
def alone_here(path: Path, run_id: str) -> Iterator[IO[bytes]]:
    """Holds a lock on `path`; the system lets go of it when the process dies. Raises LabError `in-use`."""
    with path.open("ab") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LabError(
                "another process is working on it",
                code="in-use",
                where=f"run {run_id}",
                fix="wait for it to end, or stop it; `rsibench status` shows how far it is",
            ) from None
        yield handle


@contextmanager
def tenure(store: Store, run_id: str, folder: Path, *, ttl_seconds: float = TTL_SECONDS) -> Iterator[Fence]:
    """Holds the run's lease and renews it meanwhile; gives the fence for the run's journal.

    The caller holds the file lock in `folder`. Raises LabError `in-use` when a controller on another machine holds the
    lease. When it is lost all the same, every append raises LabError `lease-lost`.
    """
    place = _place(folder)
    lease = _taken(store, f"run/{run_id}", place, run_id, ttl_seconds)
    done = threading.Event()

    def keep() -> None:
        pause = min(RENEW_SECONDS, ttl_seconds / 4)
        while not done.wait(pause):
            try:
                with store.transaction(lease.name) as connection:
                    if not renew(connection, lease, now=database_time(connection), ttl_seconds=ttl_seconds):
                        return  # somebody else has it; the fence tells whoever wants to write
            except EnvironmentFault:
                continue  # a store that is away for a moment is asked again; the fence stays what decides

    keeper = threading.Thread(target=keep, name="lease", daemon=True)
    keeper.start()
    try:
        yield fence_of(lease)
    finally:
        done.set()
        keeper.join()
        _give_back(store, lease)


def _place(folder: Path) -> str:
    """Names the machine and the very folder: one of the same path on a machine of the same name is another one."""
    folder.mkdir(parents=True, exist_ok=True)
    found = folder.stat()
    return f"{socket.gethostname()}:{folder.resolve()}:{found.st_dev}-{found.st_ino}"


def _taken(store: Store, name: str, place: str, run_id: str, ttl_seconds: float) -> Lease:
    """The lease, free, run out, or left by a dead controller of the same place."""
    holder = f"{place}:{os.getpid()}:{secrets.token_hex(4)}"
    with store.transaction(name) as connection:
        now = database_time(connection)
        lease = acquire(connection, name, holder, now=now, ttl_seconds=ttl_seconds)
        if lease is not None:
            return lease
        row = next((one for one in lease_rows(connection) if one.name == name), None)
        if row is None or row.holder is None or not row.holder.startswith(f"{place}:"):
            raise _held(row, run_id)
        over = row.expires_at + timedelta(microseconds=1)
        lease = acquire(connection, name, holder, now=over, ttl_seconds=ttl_seconds)
        if lease is None or not renew(connection, lease, now=now, ttl_seconds=ttl_seconds):
            raise _held(row, run_id)
        return lease


def _held(row: LeaseRow | None, run_id: str) -> LabError:
    holder = None if row is None else row.holder
    who = "another controller" if holder is None else f"a controller at {holder.rsplit(':', 3)[0]}"
    until = "" if row is None else f" at {row.expires_at:%H:%M:%S} UTC"
    return LabError(
        f"{who} is working on it",
        code="in-use",
        where=f"run {run_id}",
        fix=f"stop it there; if that machine is gone, try again when its lease has run out{until}",
    )


def _give_back(store: Store, lease: Lease) -> None:
    """So that the next controller need not wait; a store that is away lets the lease run out by itself."""
    try:
        with store.transaction(lease.name) as connection:
            release(connection, lease)
    except EnvironmentFault:
        return
