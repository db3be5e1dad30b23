"""A place in the cache that one process fills and every other one uses: lock, temporary folder, atomic rename.

Invariant: an entry is either absent or complete, whatever was killed and whenever. The lock dies with its process; what
a killed process left half made is removed by the next one that holds the lock.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rsibench.student.progress import Reporter, StudentProgress, StudentStage

_PARTIAL = ".partial-"


@contextmanager
def exclusive(entry: Path, report: Reporter) -> Iterator[None]:
    """Holds the lock of a cache entry; while another process holds it, says so once and waits until it is free."""
    entry.parent.mkdir(parents=True, exist_ok=True)
    with (entry.parent / f".{entry.name}.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(StudentProgress(StudentStage.WAITING))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def filling(entry: Path) -> Iterator[Path]:
    """A temporary folder beside `entry` that becomes `entry` when the block ends well and is removed when it does not.

    The caller holds the entry's lock.
    """
    prefix = f"{_PARTIAL}{entry.name}-"
    for left_over in entry.parent.glob(f"{prefix}*"):
        # Renamed first: a helper that outlives its killed process then finds no folder to put more files into.
        doomed = left_over.rename(left_over.with_name(f"{prefix}{secrets.token_hex(4)}"))
        shutil.rmtree(doomed, ignore_errors=True)
    partial = entry.parent / f"{prefix}{secrets.token_hex(4)}"
    partial.mkdir()
    try:
        yield partial
        for path in partial.iterdir():
            _flush(path)
        _flush(partial)
        partial.rename(entry)
        _flush(entry.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _flush(path: Path) -> None:
    """Forces a file's or folder's content onto the disk, so that a power cut cannot leave a renamed but empty entry."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
