"""bubblewrap's arguments for one sandbox. They go in by a descriptor, as a command line can be read from inside."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rsibench.ports.sandbox import INSIDE_HOME, INSIDE_PATH, INSIDE_WORKSPACE, SandboxLimits
from rsibench.sandbox.bubblewrap.etc import FROM_HOST, HOST_NAME, INSIDE_UID

INSIDE_PROGRAMS = "/opt/sandbox"
INSIDE_CONTROL = "/run/control.sock"
INSIDE_PYTHON = "/opt/python"
_SYSTEM_PYTHON = Path("/usr/bin/python3")
_TOP_LINKS = ("bin", "sbin", "lib", "lib64", "lib32", "libx32")
# parts of /proc that tell of the machine and not of the sandbox
_MASKED = ("cmdline", "kallsyms", "kcore", "keys", "key-users", "sched_debug", "timer_list", "kmsg", "modules", "iomem")
_MASKED_FOLDERS = ("acpi", "scsi")


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything of the host that is shown inside, by paths that the starting user can open."""

    workspace: Path
    home: Path
    read_only: Sequence[tuple[Path, str]]
    """Files and folders, each with its place inside; etc, programs, sockets and the caller's own."""
    hidden: Sequence[str]
    """Folders inside that must look empty: copies of this package in the system's folders."""


def interpreter() -> tuple[str, Path | None]:
    """The Python that runs the first program, inside; and the folder to mount for it, None for the system's own."""
    if _SYSTEM_PYTHON.exists():
        return str(_SYSTEM_PYTHON), None
    return f"{INSIDE_PYTHON}/bin/python3", Path(sys.base_prefix)


def packages_in(folders: Iterable[Path], inside: Iterable[str]) -> list[str]:
    """Where this package, whose held-out material a researcher must not read, lies in `folders` that are shown."""
    found = []
    for folder, place in zip(folders, inside, strict=True):
        for pattern in ("lib*/python3*/*-packages/rsibench", "lib*/python3*/*-packages/rsibench_data*"):
            for base in (folder, folder / "local"):
                found += [f"{place}/{path.relative_to(folder)}" for path in base.glob(pattern) if path.is_dir()]
    return found


def bwrap_arguments(shown: Shown, limits: SandboxLimits, seccomp: int | None) -> list[str]:
    """All options; the command comes after them. `seccomp` is a descriptor of the filter."""
    given = [
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--uid", str(INSIDE_UID), "--gid", str(INSIDE_UID), "--hostname", HOST_NAME),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--disable-userns", "--clearenv"),
        *("--setenv", "PATH", INSIDE_PATH, "--setenv", "LANG", "C.UTF-8"),
        *_system(),
        *("--proc", "/proc"),
        *_masks(),
        *("--dev", "/dev"),
        *_scratch("/dev/shm", limits),  # noqa: S108 - a path inside
        *_scratch("/tmp", limits),  # noqa: S108 - a path inside
        *("--dir", "/var/tmp", "--dir", "/run/bridge"),  # noqa: S108 - a path inside
        *("--bind", str(shown.workspace), INSIDE_WORKSPACE, "--bind", str(shown.home), INSIDE_HOME),
    ]
    for host, inside in shown.read_only:
        given += ["--ro-bind", str(host), inside]
    for inside in shown.hidden:
        given += ["--perms", "0000", "--size", "4096", "--tmpfs", inside, "--remount-ro", inside]
    if interpreter()[1] is not None:
        given += ["--setenv", "LD_LIBRARY_PATH", f"{INSIDE_PYTHON}/lib"]
    if seccomp is not None:
        given += ["--seccomp", str(seccomp)]
    return [*given, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", INSIDE_WORKSPACE]


def command() -> list[str]:
    """The first program and its argument."""
    return [interpreter()[0], "-I", "-S", f"{INSIDE_PROGRAMS}/init.py", INSIDE_CONTROL]


def _system() -> list[str]:
    given = ["--ro-bind", "/usr", "/usr"]
    for name in _TOP_LINKS:
        path = Path("/") / name
        if path.is_symlink():
            given += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            given += ["--ro-bind", str(path), str(path)]
    for place in FROM_HOST:
        if Path(place).exists():
            given += ["--ro-bind", place, place]
    return given


def _masks() -> list[str]:
    given = []
    for name in _MASKED:
        if (Path("/proc") / name).exists():
            given += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    for name in _MASKED_FOLDERS:
        if (Path("/proc") / name).is_dir():
            given += ["--size", "4096", "--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}"]
    return given


def _scratch(place: str, limits: SandboxLimits) -> list[str]:
    return ["--perms", "1777", "--size", str(limits.scratch_bytes), "--tmpfs", place]
