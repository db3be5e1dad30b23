"""Which researchers there are, and the command that starts each one in its workspace."""

from __future__ import annotations

import difflib
import sys
from typing import NamedTuple

from rsibench.errors import SpecError
from rsibench.researchers.install import AGENTS
from rsibench.researchers.presets import PRESETS

SCRIPTED: dict[str, str] = {
    "feedback": "reads per-family failures, states a hypothesis, rebalances and repairs, keeps its best",
    "one-shot": "one even, worked data set; no second look",
    "best-of-n": "spends the whole budget on independent draws and ignores what feedback says (control)",
    "no-op": "trains as good as nothing (control)",
    "overreach": "never stops, chases the worst family, keeps the last attempt (control)",
}


class ResearcherCommand(NamedTuple):
    """How a researcher's process is started: its arguments and what it needs in its environment besides the lab."""

    argv: tuple[str, ...]
    environment: dict[str, str]


def require_known(name: str) -> None:
    """Raises SpecError, with the nearest name, for a researcher that there is not."""
    known = [*SCRIPTED, *AGENTS, *PRESETS]
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
        raise SpecError(f"there is no researcher {name!r}", where="--researcher", fix=hint)


def researcher_command(name: str, seed: int, *, message: str | None = None) -> ResearcherCommand:
    """The command of a scripted researcher. `message` is given when it is started again after an early stop.

    Raises SpecError for an unknown name, and for an agent, which cannot be started yet.
    """
    require_known(name)
    if name not in SCRIPTED:
        raise SpecError(
            f"{name} cannot be started yet: its model calls would not be metered",
            where="--researcher",
            fix=f"scripted researchers run: {', '.join(SCRIPTED)}",
        )
    argv = [sys.executable, "-m", "rsibench.researchers.scripted", name, "--seed", str(seed)]
    if message is not None:
        argv += ["--message", message]
    return ResearcherCommand(tuple(argv), {"PYTHONDONTWRITEBYTECODE": "1"})
