"""One folder a sandbox under one folder a user: its lock, its control socket, its record. What dead controllers left.

Invariants: a sandbox's folder is locked by the process that holds it, so that whoever gets the lock knows that nobody
does; where the user is root the folder's name is the sandbox's own user id, so that no two living sandboxes share one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pwd
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rsibench.errors import EnvironmentFault
from rsibench.sandbox.warden.cgroups import Cgroup

_UIDS = range(58_000, 60_000)
_LOCK = "lock"
_CGROUPS = "cgroups.json"


def state_root(scratch: Path | None = None) -> Path:
    """The user's folder of all sandboxes, made when missing. Raises EnvironmentFault when it is not the user's own."""
    path = (scratch or Path(tempfile.gettempdir())) / f"rsibench-sandboxes-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o711)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise EnvironmentFault("it is not a folder of the user's own", where=str(path), fix="remove it")
    return path


@dataclass(frozen=True, slots=True)
class Claim:
    """A new sandbox's folder. `lock` is a locked file descriptor; the lock lasts as long as any copy of it is open."""

    folder: Path
    lock: int
    uid: int | None
    """The sandbox's own user id on the host, None where the user cannot give one."""


def claim(root: Path) -> Claim:
    """A folder for a new sandbox, locked. Raises EnvironmentFault when every user id is taken."""
    for name in _names():
        folder = root / name
        try:
            folder.mkdir(mode=0o711)
        except FileExistsError:
            continue
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Claim(folder, lock, int(name) if os.getuid() == 0 else None)
    raise EnvironmentFault("every user id for sandboxes is taken", where=str(root), fix="stop other runs")


def _names() -> Iterator[str]:
    if os.getuid() != 0:
        yield secrets.token_hex(8)
        return
    mapped = _mapped_uids()
    for uid in _UIDS:
        if uid in mapped:
            try:
                pwd.getpwuid(uid)
            except KeyError:
                yield str(uid)


def _mapped_uids() -> range:
    """The largest range of user ids that exists in this user namespace."""
    lines = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text("ascii").splitlines()]
    start, _, count = max(lines, key=lambda line: line[2])
    return range(start, start + count)


def record_cgroup(folder: Path, cgroup: Cgroup) -> None:
    """Says which cgroups the sandbox has, before anything is in them."""
    (folder / _CGROUPS).write_text(json.dumps([str(path) for path in cgroup.folders]), encoding="utf-8")


def reap(root: Path) -> list[str]:
    """Removes every sandbox that nobody holds: kills what is in its cgroups, removes them and the folder."""
    removed = []
    for folder in sorted(root.iterdir()) if root.is_dir() else []:
        with contextlib.suppress(OSError):
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(folder)
                removed.append(f"sandbox {folder.name} of a controller that is gone")
            finally:
                os.close(lock)
    return removed


def _remove(folder: Path) -> None:
    record = folder / _CGROUPS
    if record.exists():
        paths = [Path(path) for path in json.loads(record.read_text("utf-8"))]
        Cgroup(tuple(path for path in paths if path.is_dir())).remove()
    shutil.rmtree(folder)
