"""The docker provider. No test of this project has run it against a daemon; the probe decides on every machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from rsibench.errors import EnvironmentFault
from rsibench.ports.sandbox import Probe, SandboxSpec
from rsibench.sandbox import state
from rsibench.sandbox.probing import look_from_inside
from rsibench.sandbox.process import HeldSandbox
from rsibench.sandbox.warden import storage
from rsibench.sandbox.warden.plan import WardenPlan
from rsibench.spec.settings import container_environment

DEFAULT_IMAGE = "python:3.12-slim"
_ASK_SECONDS = 20.0


class DockerProvider:
    """A SandboxProvider. `image` must be there already and hold python3; nothing is pulled."""

    name = "docker"

    def __init__(self, image: str = DEFAULT_IMAGE, program: Path | None = None) -> None:
        self._image = image
        self._program = program

    def probe(self) -> Probe:
        """Asks the daemon and for the image first; then from inside."""
        try:
            self._ready()
        except EnvironmentFault as fault:
            return Probe(self.name, False, str(fault), {})
        return look_from_inside(self.name, self.start)

    def start(self, spec: SandboxSpec, argv: Sequence[str], *, stdout: Path | None = None, stderr: Path) -> HeldSandbox:
        """See the protocol."""
        program = self._found()
        root = state.state_root()
        state.reap(root)
        for folder in (spec.workspace, spec.home):
            folder.mkdir(parents=True, exist_ok=True)
        claim = state.claim(root)
        settings = {"program": str(program), "image": self._image}
        plan = WardenPlan(self.name, claim.folder, claim.uid, spec, tuple(argv), settings)
        return HeldSandbox(plan, claim, stdout, stderr, container_environment())

    def discard(self, spec: SandboxSpec) -> None:
        """Removes the kept folder."""
        storage.discard(spec)

    def reap(self) -> list[str]:
        """Removes folders that dead controllers left, and containers of the same names."""
        root = state.state_root()
        living = {f"rsibench-{folder.name}" for folder in root.iterdir()}
        removed = state.reap(root)
        gone = living - {f"rsibench-{folder.name}" for folder in root.iterdir()}
        program = self._program or shutil.which("docker")
        if program is not None and gone:
            self._ask(Path(program), "rm", "--force", *sorted(gone))
        return removed

    def _ready(self) -> None:
        program = self._found()
        if self._ask(program, "version", "--format", "{{.Server.Version}}") is None:
            raise EnvironmentFault("no docker daemon answers", fix="start docker, or use bubblewrap")
        if self._ask(program, "image", "inspect", self._image) is None:
            raise EnvironmentFault(f"the image {self._image} is not there", fix=f"docker pull {self._image}")

    def _found(self) -> Path:
        found = self._program or shutil.which("docker")
        if found is None:
            raise EnvironmentFault("docker is not installed", fix="install docker, or use bubblewrap")
        return Path(found)

    def _ask(self, program: Path, *arguments: str) -> str | None:
        """What docker answers, None when it fails."""
        environment: Mapping[str, str] = {"PATH": os.defpath, **container_environment()}
        try:
            done = subprocess.run(
                [str(program), *arguments],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_ASK_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout if done.returncode == 0 else None
