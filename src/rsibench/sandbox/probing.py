"""Whether a provider isolates here: a throwaway sandbox is started and looked at from inside.

The host plants a file, a secret in the environment of the process that starts the sandbox, and a listening loopback
port; `inside/checks.py` tries to find them, and what else must not work. One failure is enough for the provider to be
refused.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from rsibench.errors import EnvironmentFault, RsibenchError
from rsibench.ports.sandbox import Probe, SandboxLimits, SandboxSpec
from rsibench.sandbox.inside.checks import FIXED_SIZE
from rsibench.sandbox.process import HeldSandbox
from rsibench.sandbox.warden.storage import FIXED_SIZE_FACT

_PROBE_SECONDS = 60.0
_BRIDGE_PORT = 8700
_MEMORY_BYTES = 256 << 20
_WORKSPACE_BYTES = 16 << 20
_PROCESSES = 32
_MEANINGLESS = (b"PATH", b"LANG", b"HOME", b"PWD", b"TERM", b"SHLVL", b"_", b"SHELL", b"USER")
_CHECKS = "/opt/sandbox/checks.py"


class _Start(Protocol):
    def __call__(
        self, spec: SandboxSpec, argv: Sequence[str], *, stdout: Path | None = None, stderr: Path
    ) -> HeldSandbox: ...


def look_from_inside(name: str, start: _Start) -> Probe:
    """Starts a sandbox with `start` and runs the checks in it."""
    if sys.platform != "linux":
        return Probe(name, False, "sandboxes need Linux", {})
    with tempfile.TemporaryDirectory(prefix="rsibench-probe-") as text, socket.socket() as loopback:
        folder = Path(text)
        loopback.bind(("127.0.0.1", 0))
        loopback.listen(1)
        with _Ponger(folder / "probe.sock") as ponger:
            try:
                found, facts = _checked(start, folder, ponger.path, loopback.getsockname()[1])
            except (EnvironmentFault, OSError, ValueError) as error:
                log = folder / "log"
                said = log.read_text("utf-8", "replace").strip()[-300:] if log.exists() else ""
                what = error.what if isinstance(error, RsibenchError) else f"{type(error).__name__}: {error}"
                return Probe(name, False, f"{what}{': ' + said if said else ''}", {})
    wrong = [f"{check}: {problem}" for check, problem in found.items() if problem]
    return Probe(name, not wrong, "; ".join(wrong), facts)


def _checked(
    start: _Start, folder: Path, bridged: Path, loopback_port: int
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Every check with what was wrong, and the facts of the sandbox."""
    planted = folder / "planted" / "key"
    planted.parent.mkdir()
    planted.write_text(secrets.token_hex(16), encoding="ascii")
    spec = SandboxSpec(
        workspace=folder / "workspace",
        home=folder / "home",
        keep=folder / "keep",
        sockets={"probe": bridged},
        ports={_BRIDGE_PORT: "probe"},
        environment={"PATH": "/usr/local/bin:/usr/bin:/bin"},
        limits=SandboxLimits(
            memory_bytes=_MEMORY_BYTES, processes=_PROCESSES, workspace_bytes=_WORKSPACE_BYTES, scratch_bytes=1 << 20
        ),
    )
    given = {
        "planted": str(planted),
        "loopback_port": loopback_port,
        "bridge_port": _BRIDGE_PORT,
        "workspace_bytes": _WORKSPACE_BYTES,
        "processes": _PROCESSES,
        **_digests(),
    }
    process = start(spec, ["python3", "-I", _CHECKS, json.dumps(given)], stderr=folder / "log")
    try:
        if process.stdout is None:
            raise EnvironmentFault("the sandbox has no output")
        said = process.stdout.read(1 << 16)
        process.wait(_PROBE_SECONDS)
    finally:
        process.stop()
        if process.stdout is not None:
            process.stdout.close()
    found: dict[str, str] = json.loads(said)
    fixed = found.pop(FIXED_SIZE, "")
    if not fixed and process.facts.get("workspace limit") == FIXED_SIZE_FACT:
        found["workspace"] = "its size is not fixed"
    return found, process.facts


def _digests() -> dict[str, object]:
    """Of every variable of the own environment but a few that mean nothing, keyed anew; the values stay here."""
    key = secrets.token_bytes(32)
    entries = Path("/proc/self/environ").read_bytes().split(b"\0")
    told = [entry for entry in entries if entry and entry.partition(b"=")[0] not in _MEANINGLESS]
    return {
        "digest_key": key.hex(),
        "digests": [hashlib.blake2b(entry, key=key, digest_size=16).hexdigest() for entry in told],
    }


class _Ponger:
    """Answers one connection's `ping` on a Unix socket."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(1)
        self._thread = threading.Thread(target=self._answer, daemon=True)

    def __enter__(self) -> _Ponger:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _answer(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:
            return
        with client:
            if client.recv(16) == b"ping":
                client.sendall(b"pong")
