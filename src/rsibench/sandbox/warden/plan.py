"""What the controller tells the process that holds a sandbox, as one JSON line; and what that one answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rsibench.ports.sandbox import SandboxCause, SandboxEnd, SandboxLimits, SandboxSpec

CONTROL_SOCKET = "control.sock"


@dataclass(frozen=True, slots=True)
class WardenPlan:
    """One sandbox to hold. `folder` is its claimed state folder, `uid` its user on the host, None for the own."""

    provider: str
    folder: Path
    uid: int | None
    spec: SandboxSpec
    argv: tuple[str, ...]
    settings: Mapping[str, str]
    """The provider's own: where its program is, or the image it runs."""

    def dumped(self) -> str:
        """As one line."""
        return json.dumps(
            {
                "provider": self.provider,
                "folder": str(self.folder),
                "uid": self.uid,
                "argv": self.argv,
                "settings": dict(self.settings),
                "workspace": str(self.spec.workspace),
                "home": str(self.spec.home),
                "keep": str(self.spec.keep),
                "read_only": [[str(host), inside] for host, inside in self.spec.read_only],
                "sockets": {name: str(path) for name, path in self.spec.sockets.items()},
                "ports": {str(port): name for port, name in self.spec.ports.items()},
                "environment": dict(self.spec.environment),
                "limits": asdict(self.spec.limits),
            }
        )


def loaded(line: str) -> WardenPlan:
    """The plan that `dumped` wrote."""
    said: dict[str, Any] = json.loads(line)
    spec = SandboxSpec(
        workspace=Path(said["workspace"]),
        home=Path(said["home"]),
        keep=Path(said["keep"]),
        read_only=tuple((Path(host), inside) for host, inside in said["read_only"]),
        sockets={name: Path(path) for name, path in said["sockets"].items()},
        ports={int(port): name for port, name in said["ports"].items()},
        environment=said["environment"],
        limits=SandboxLimits(**said["limits"]),
    )
    return WardenPlan(said["provider"], Path(said["folder"]), said["uid"], spec, tuple(said["argv"]), said["settings"])


def end_line(end: SandboxEnd) -> str:
    """How the sandbox ended, for the controller."""
    return json.dumps({"end": asdict(end)})


def end_of(said: Mapping[str, Any]) -> SandboxEnd:
    """The end that `end_line` wrote."""
    return SandboxEnd(**{**said, "cause": SandboxCause(said["cause"])})
