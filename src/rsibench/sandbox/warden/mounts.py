"""Mounts in a namespace of the own process, as root: they end with the process, however it dies.

Nothing made here is seen by the rest of the machine, and nothing is left behind: the kernel takes mounts and loop
device back when the last process of the namespace is gone.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

from rsibench.errors import EnvironmentFault

_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000
_MOUNT_SECONDS = 60.0


def own_namespace() -> None:
    """From now on this process's mounts are its own. Raises EnvironmentFault when the system does not allow it."""
    try:
        os.unshare(os.CLONE_NEWNS)
    except OSError as error:
        raise EnvironmentFault(
            f"no mount namespace can be made: {error.strerror}", fix="run where root has the capability SYS_ADMIN"
        ) from error
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)


def scratch(folder: Path) -> None:
    """An empty file system in memory at `folder`, for mount points."""
    _mount("stage", str(folder), "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=0755,size=1m")


def bind(source: Path, target: Path) -> None:
    """The file or folder `source` is at `target` too; the target is made, in a folder that exists."""
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount(str(source), str(target), None, _MS_BIND | _MS_REC)


def make_image(path: Path, size_bytes: int) -> None:
    """An empty ext4 file system of `size_bytes` in the file `path`, which takes only the room that it uses."""
    made = path.with_name(path.name + ".part")
    with made.open("wb") as file:
        made.chmod(0o600)
        file.truncate(size_bytes)
    _run("mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=1", str(made))
    made.rename(path)


def mount_image(path: Path, target: Path) -> None:
    """Mounts a file system in a file, by a loop device that frees itself."""
    target.mkdir(parents=True, exist_ok=True)
    _run("mount", "-t", "ext4", "-o", "loop,nosuid,nodev,noatime", str(path), str(target))


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    given = [text.encode() if text is not None else None for text in (source, target, kind, data)]
    if libc.mount(given[0], given[1], given[2], ctypes.c_ulong(flags), given[3]) != 0:
        raise EnvironmentFault(f"it cannot be mounted: {os.strerror(ctypes.get_errno())}", where=source or target)


def _run(*argv: str) -> None:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_MOUNT_SECONDS, check=False, text=True
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFault(f"{argv[0]} did not run: {error}", fix="install util-linux and e2fsprogs") from error
    if done.returncode != 0:
        raise EnvironmentFault(f"{argv[0]} failed: {done.stderr.strip()[:400]}", where=argv[-1])
