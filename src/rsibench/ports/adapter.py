"""AgentAdapter: all that is particular to one command line agent. No driving, money or isolation is decided here.

An adapter never sees a provider's key: it is given a run token and the address of the run's model endpoint.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rsibench.spec.researcher import AgentEnd, ModelAccess, TranscriptEvent


class AgentAdapter(Protocol):
    """One agent. Instances hold no state; everything they need is handed in."""

    name: str
    stop_signal: signal.Signals
    """The signal on which the program ends in an orderly way."""

    def prepare(self, home: Path, access: ModelAccess) -> dict[str, str]:
        """Writes the agent's configuration under `home`, its private folder, and returns its environment."""

    def argv(self, program: Sequence[str], access: ModelAccess, prompt: str, session: str | None) -> tuple[str, ...]:
        """The command line; `session` resumes an earlier one of the same agent."""

    def parse(self, line: str) -> tuple[TranscriptEvent, ...]:
        """One line of its standard output. Lines that are not understood give nothing and never raise."""

    def outcome(self, events: Sequence[TranscriptEvent], exit_code: int | None) -> AgentEnd:
        """How a start ended, from everything it said."""
