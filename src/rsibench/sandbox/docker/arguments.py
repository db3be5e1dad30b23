"""The docker command for one sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rsibench.ports.sandbox import INSIDE_HOME, INSIDE_WORKSPACE, SandboxLimits

INSIDE_PROGRAMS = "/opt/sandbox"
INSIDE_CONTROL = "/run/control.sock"


def run_arguments(
    name: str,
    image: str,
    user: int,
    workspace: Path,
    home: Path,
    read_only: Sequence[tuple[Path, str]],
    limits: SandboxLimits,
) -> list[str]:
    """All after `docker`. The image must hold python3 as the first on its PATH; nothing is pulled."""
    given = [
        *("run", "--rm", "--name", name, "--pull", "never", "--init", "--network", "none", "--hostname", "sandbox"),
        *("--user", f"{user}:{user}", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only"),
        *("--ipc", "private", "--memory", str(limits.memory_bytes), "--memory-swap", str(limits.memory_bytes)),
        *("--pids-limit", str(limits.processes), "--ulimit", f"nofile={limits.open_files}", "--ulimit", "core=0"),
        *("--ulimit", f"fsize={limits.file_bytes}", "--shm-size", str(limits.scratch_bytes)),
        *("--tmpfs", f"/tmp:rw,nosuid,nodev,mode=1777,size={limits.scratch_bytes}"),  # noqa: S108 - a path inside
        *_mount(workspace, INSIDE_WORKSPACE, writable=True),
        *_mount(home, INSIDE_HOME, writable=True),
    ]
    if limits.cpus is not None:
        given += ["--cpus", str(limits.cpus)]
    for host, inside in read_only:
        given += _mount(host, inside, writable=False)
    return [
        *(*given, "--workdir", INSIDE_WORKSPACE, "--entrypoint", "python3", image),
        *("-I", "-S", f"{INSIDE_PROGRAMS}/init.py", INSIDE_CONTROL),
    ]


def _mount(host: Path, inside: str, *, writable: bool) -> list[str]:
    # the long form, because a path may hold a colon; it cannot hold a comma, which the provider refuses
    return ["--mount", f"type=bind,source={host},target={inside}" + ("" if writable else ",readonly")]
