"""A cgroup for one sandbox, of version 1 or 2: limits on memory, processes and processors, and a kill that reaches all.

Version 1 has one folder a controller, version 2 one for all. Nothing here works for a user who may not write there,
which `make` says by None. Version 2 has been run only against a folder tree that looks like it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_PERIOD_US = 100_000
_REMOVE_SECONDS = 5.0
_WANTED = ("memory", "pids", "cpu")
_OWN = Path("/proc/self")


class CgroupLimits(NamedTuple):
    """What a cgroup is to enforce."""

    memory_bytes: int
    processes: int
    cpus: float | None


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The folders of one sandbox's cgroup."""

    folders: tuple[Path, ...]

    def join(self) -> None:
        """Puts the calling process in; for a child between fork and exec."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text("0", encoding="ascii")

    def memory_kills(self) -> int:
        """How many processes the kernel has killed for the memory limit."""
        return self._count("oom_kill", "memory.events", "memory.oom_control")

    def memory_peak_bytes(self) -> int | None:
        """The most memory that was in use at once, where the kernel tells."""
        for folder in self.folders:
            for name in ("memory.peak", "memory.max_usage_in_bytes"):
                with contextlib.suppress(OSError, ValueError):
                    return int((folder / name).read_text("ascii"))
        return None

    def kill(self) -> None:
        """SIGKILL to everything in it, once."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                (folder / "cgroup.kill").write_text("1", encoding="ascii")
            with contextlib.suppress(OSError):
                for pid in (folder / "cgroup.procs").read_text("ascii").split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)

    def remove(self) -> None:
        """Kills until it is empty, then removes it. What cannot be removed in some seconds stays."""
        until = time.monotonic() + _REMOVE_SECONDS
        left = list(self.folders)
        while left and time.monotonic() < until:
            self.kill()
            left = [folder for folder in left if not _removed(folder)]
            if left:
                time.sleep(0.005)

    def _count(self, key: str, *names: str) -> int:
        for folder in self.folders:
            for name in names:
                with contextlib.suppress(OSError):
                    for line in (folder / name).read_text("ascii").splitlines():
                        word, _, value = line.partition(" ")
                        if word == key:
                            return int(value)
        return 0


def make(name: str, limits: CgroupLimits, own_process: Path = _OWN) -> tuple[Cgroup, str] | None:
    """A new cgroup that limits memory and processes, with its version as text; None where none can be had."""
    mounts = _mounts((own_process / "mountinfo").read_text("utf-8"))
    own = _own((own_process / "cgroup").read_text("utf-8"))
    for attempt in (_make_v2, _make_v1):
        made = attempt(name, limits, mounts, own)
        if made is not None:
            return made
    return None


def _make_v1(
    name: str, limits: CgroupLimits, mounts: Mapping[str, Path], own: Mapping[str, str]
) -> tuple[Cgroup, str] | None:
    folders = {}
    for controller in _WANTED:
        if controller not in mounts:
            continue
        for parent in (mounts[controller] / own.get(controller, "/").lstrip("/"), mounts[controller]):
            with contextlib.suppress(OSError):
                (parent / name).mkdir()
                folders[controller] = parent / name
                break
    cgroup = Cgroup(tuple(folders.values()))
    try:
        _write(folders["memory"] / "memory.limit_in_bytes", limits.memory_bytes)
        with contextlib.suppress(OSError):
            _write(folders["memory"] / "memory.memsw.limit_in_bytes", limits.memory_bytes)
        _write(folders["pids"] / "pids.max", limits.processes)
        if limits.cpus is not None:
            _write(folders["cpu"] / "cpu.cfs_period_us", _PERIOD_US)
            _write(folders["cpu"] / "cpu.cfs_quota_us", int(limits.cpus * _PERIOD_US))
    except (OSError, KeyError):
        cgroup.remove()
        return None
    return cgroup, "cgroup v1"


def _make_v2(
    name: str, limits: CgroupLimits, mounts: Mapping[str, Path], own: Mapping[str, str]
) -> tuple[Cgroup, str] | None:
    if "" not in mounts:
        return None
    for parent in (mounts[""] / own.get("", "/").lstrip("/"), mounts[""]):
        folder = parent / name
        try:
            _write(parent / "cgroup.subtree_control", "+memory +pids" + (" +cpu" if limits.cpus is not None else ""))
            folder.mkdir()
        except OSError:
            continue
        try:
            _write(folder / "memory.max", limits.memory_bytes)
            with contextlib.suppress(OSError):
                _write(folder / "memory.swap.max", 0)
            _write(folder / "pids.max", limits.processes)
            if limits.cpus is not None:
                _write(folder / "cpu.max", f"{int(limits.cpus * _PERIOD_US)} {_PERIOD_US}")
        except OSError:
            _removed(folder)
            continue
        return Cgroup((folder,)), "cgroup v2"
    return None


def _mounts(mountinfo: str) -> dict[str, Path]:
    """Controller to mount point; the unified hierarchy has the name ''."""
    found: dict[str, Path] = {}
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        point, (kind, _, options) = Path(left.split()[4]), right.split(" ", 2)
        if kind == "cgroup2":
            found[""] = point
        elif kind == "cgroup":
            found |= {name: point for name in options.split(",") if name in _WANTED}
    return found


def _own(cgroups: str) -> dict[str, str]:
    """Controller to the own process's place in its hierarchy."""
    lines = [line.split(":", 2) for line in cgroups.splitlines()]
    return {name: place for _, names, place in lines for name in names.split(",")}


def _write(path: Path, value: int | str) -> None:
    path.write_text(str(value), encoding="ascii")  # the kernel lets nobody make files there: one that is missing fails


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
