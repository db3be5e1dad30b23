"""SandboxProvider and SandboxProcess: a researcher's program in a place where it sees only what it was given.

A `SandboxSpec` is complete: what is not named in it is not there. Whether a provider keeps that promise on this
machine is found out by `probe`, which starts a throwaway sandbox and looks from inside; a run may be called isolated
only after it.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import IO, Protocol

INSIDE_WORKSPACE = "/workspace"
INSIDE_HOME = "/home/agent"
INSIDE_SOCKETS = "/run/bridge"
INSIDE_PATH = "/usr/local/bin:/usr/bin:/bin"


class SandboxCause(StrEnum):
    """Why a sandbox ended."""

    EXITED = "exited"
    """The program ended by itself, with whatever exit code."""
    STOPPED = "stopped"
    """It was asked to end, or killed, by `stop`."""
    OUT_OF_MEMORY = "out_of_memory"
    """The program did not survive its memory limit."""
    DISK_FULL = "disk_full"
    """It was killed for a workspace over its limit; only where the limit is a watchdog's."""
    LOST = "lost"
    """The sandbox broke: it was killed from outside, or its own first process was."""


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Hard limits of one sandbox. How each is enforced is a fact of the provider's probe."""

    memory_bytes: int = 4 << 30
    processes: int = 512
    """Threads count as processes."""
    workspace_bytes: int = 2 << 30
    """Workspace and home together."""
    scratch_bytes: int = 512 << 20
    """Of each scratch folder in memory; what is in them counts as memory too."""
    file_bytes: int = 2 << 30
    """The largest single file."""
    output_bytes: int = 64 << 20
    """Of standard output and of standard error that go to a file; what is beyond is dropped."""
    open_files: int = 4096
    cpus: float | None = None


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """One sandbox. Paths of the host on the left of every mapping's meaning, paths inside on the right.

    `workspace` and `home` are folders of the host whose content is at INSIDE_WORKSPACE and INSIDE_HOME, writable;
    both are the caller's again, complete, once the process was stopped. `keep` is a folder outside them where a
    provider may store what must survive the controller between two starts.
    """

    workspace: Path
    home: Path
    keep: Path
    read_only: tuple[tuple[Path, str], ...] = ()
    """Files and folders of the host, each with its path inside; may lie within the workspace."""
    sockets: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    """Listening Unix sockets of the host, reachable inside as `inside_socket(name)`. No other way leads outside."""
    ports: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    """Ports on the sandbox's own 127.0.0.1, each forwarded to the socket of that name."""
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The program's whole environment."""
    limits: SandboxLimits = SandboxLimits()


def inside_socket(name: str) -> str:
    """Where the program finds the socket `name`."""
    return f"{INSIDE_SOCKETS}/{name}.sock"


@dataclass(frozen=True, slots=True)
class SandboxEnd:
    """How a sandbox ended. Nothing in it is a verdict on the researcher."""

    cause: SandboxCause
    exit_code: int
    """The program's, 128 + N after signal N."""
    memory_kills: int = 0
    """Processes killed for the memory limit, the program itself or others; 0 where nobody counts."""
    memory_peak_bytes: int | None = None
    workspace_bytes: int | None = None
    """In use at the end, where it is known."""
    left_out: int = 0
    """Things in workspace and home that were not given back: links, devices, FIFOs, and files beyond the limit."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether a provider isolates on this machine. `why` says what is missing; `facts` how each limit is enforced."""

    provider: str
    available: bool
    why: str
    facts: Mapping[str, str]


class SandboxProcess(Protocol):
    """A running sandbox. Everything in it ends with its program, with `stop`, or with the controller, daemons too."""

    pid: int
    """Of the process of ours that holds the sandbox, on the host."""
    stdout: IO[bytes] | None
    """The program's standard output where no file was named for it. Must be read, or the program waits."""
    end: SandboxEnd | None
    """Known after `poll`, `wait` or `stop` gave an exit code."""

    def poll(self) -> int | None:
        """The program's exit code, or None while it runs."""

    def wait(self, timeout_seconds: float) -> int | None:
        """The exit code, or None when it still runs after `timeout_seconds`."""

    def interrupt(self, number: signal.Signals) -> None:
        """Sends a signal to the program and its process group inside; to nothing when it has ended."""

    def stop(self, number: signal.Signals = signal.SIGTERM, grace_seconds: float = 5.0) -> int:
        """Signals the program, waits, then kills everything inside and gives workspace and home back. Repeatable."""


class SandboxProvider(Protocol):
    """One way to make sandboxes. Instances hold no state of a run."""

    name: str

    def probe(self) -> Probe:
        """Starts a throwaway sandbox and checks from inside that isolation holds. Never raises for a lack."""

    def start(
        self, spec: SandboxSpec, argv: Sequence[str], *, stdout: Path | None = None, stderr: Path
    ) -> SandboxProcess:
        """Runs `argv` in INSIDE_WORKSPACE. Raises EnvironmentFault when the sandbox cannot be made.

        `stdout` and `stderr` are files of the host that are appended to, bounded; without `stdout` it is a pipe.
        """

    def discard(self, spec: SandboxSpec) -> None:
        """Removes what was kept between starts; for the end of a run."""

    def reap(self) -> list[str]:
        """Removes what controllers that were killed left on this machine; returns a line for each thing removed."""
