"""What is said about an agent that does research: how it reaches its model, what it did, how it ended.

Plain data without behaviour. What an agent says about its own tokens and dollars is advice; the meter is the record.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ModelAccess(NamedTuple):
    """Where an agent finds its model. `base_url` has no trailing slash and no version; `token` is the run's, no key."""

    base_url: str
    token: str
    model: str
    effort: str | None = None


class EventKind(StrEnum):
    """What one event of a transcript is."""

    SESSION = "session"
    """The agent named its session; `text` is the id by which it can be resumed."""
    MESSAGE = "message"
    """The model said something."""
    TOOL_CALL = "tool_call"
    """The model called a tool; `text` is the command or the arguments."""
    TOOL_RESULT = "tool_result"
    """What a tool returned."""
    ERROR = "error"
    """The model API or the agent failed for the moment."""
    RESULT = "result"
    """The agent's own end of a turn; `failed` says what it thought of it."""


class TranscriptEvent(NamedTuple):
    """One event in the form that is common to all agents. `text` is untrusted and cut to a bounded length."""

    kind: EventKind
    text: str
    failed: bool = False
    api_status: int | None = None


class AgentEnd(StrEnum):
    """How one start of an agent ended. It never decides whether a run is valid, only what is done next."""

    COMPLETED = "completed"
    """The model ended its turn."""
    API_ERROR = "api-error"
    """The model API failed for good; not the agent's fault."""
    BUDGET = "budget"
    """The model's budget is used up (status 402)."""
    CRASHED = "crashed"
    """The program ended without a result."""
