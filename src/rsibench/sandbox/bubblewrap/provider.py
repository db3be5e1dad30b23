"""The bubblewrap provider."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from rsibench.errors import EnvironmentFault
from rsibench.ports.sandbox import Probe, SandboxSpec
from rsibench.sandbox import state
from rsibench.sandbox.probing import look_from_inside
from rsibench.sandbox.process import HeldSandbox
from rsibench.sandbox.warden import storage
from rsibench.sandbox.warden.plan import WardenPlan


class BubblewrapProvider:
    """A SandboxProvider. `program` is bwrap's path, looked up when not given."""

    name = "bubblewrap"

    def __init__(self, program: Path | None = None) -> None:
        self._program = program

    def probe(self) -> Probe:
        """From inside a throwaway sandbox."""
        try:
            self._found()
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
        plan = WardenPlan(self.name, claim.folder, claim.uid, spec, tuple(argv), {"program": str(program)})
        return HeldSandbox(plan, claim, stdout, stderr, {})

    def discard(self, spec: SandboxSpec) -> None:
        """Removes the kept file system."""
        storage.discard(spec)

    def reap(self) -> list[str]:
        """Removes what dead controllers left."""
        return state.reap(state.state_root())

    def _found(self) -> Path:
        found = self._program or shutil.which("bwrap")
        if found is None:
            raise EnvironmentFault("bwrap is not installed", fix="install bubblewrap >= 0.8")
        return Path(found)
