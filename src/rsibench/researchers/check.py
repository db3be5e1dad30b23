"""A handshake with an installed agent: it asks a scripted model on loopback one thing, and its answer is read back.

No key is needed and no provider is asked. It shows that the program starts, speaks its wire and is understood.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from rsibench.errors import EnvironmentFault
from rsibench.researchers.install import InstalledAgent
from rsibench.spec.researcher import AgentEnd, EventKind, ModelAccess
from rsibench.testing.model_endpoint import ModelEndpoint
from rsibench.testing.model_turns import Turn, by_position

_SECONDS = 30.0
_TOKEN = "handshake"  # noqa: S105 - opens nothing
_SAID = "the handshake is done"
_MODEL = "scripted-model"


class Handshake(NamedTuple):
    """What came of it. `requests` counts what the model endpoint was asked."""

    end: AgentEnd
    seconds: float
    requests: int
    session: str


def check_agent(agent: InstalledAgent) -> Handshake:
    """Raises EnvironmentFault when the program does not answer as it should."""
    begun, said = time.monotonic(), Turn(text=_SAID)
    with (
        tempfile.TemporaryDirectory(prefix="rsibench-check-") as root,
        ModelEndpoint(by_position([said], said), key=_TOKEN) as model,
    ):
        home, workspace = Path(root) / "home", Path(root) / "workspace"
        home.mkdir()
        workspace.mkdir()
        access = ModelAccess(model.url, _TOKEN, _MODEL)
        environment = agent.adapter.prepare(home, access) | {"PATH": "/usr/local/bin:/usr/bin:/bin"}
        argv = agent.adapter.argv((str(agent.program),), access, "hello", None)
        try:
            done = subprocess.run(
                argv,
                cwd=workspace,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise EnvironmentFault(
                f"no answer in {_SECONDS:g} seconds", where=agent.name, fix="start it by hand and look at what it says"
            ) from None
        events = [one for line in done.stdout.splitlines() for one in agent.adapter.parse(line)]
        end = agent.adapter.outcome(events, done.returncode)
        if end is not AgentEnd.COMPLETED or not model.calls or not any(_SAID in one.text for one in events):
            last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1][:300]
            raise EnvironmentFault(f"the handshake ended as {end}: {last}", where=agent.name, fix="install it again")
        session = next((one.text for one in events if one.kind is EventKind.SESSION), "")
        return Handshake(end, time.monotonic() - begun, len(model.calls), session)
