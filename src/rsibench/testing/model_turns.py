"""What a scripted model answers: turns, the tokens it says it used, and disturbances. No wire and no server here.

A script is a function of what was asked, so that retried and resumed conversations get the same answer again; a list of
turns becomes one with `by_position` (for agents) or `in_order` (for plain clients).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

type Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """Tokens that the model reports. `input` excludes cached and written ones; `output` includes reasoning."""

    input: int = 1_000
    cached: int = 300
    written: int = 0
    written_1h: int = 0
    output: int = 50
    reasoning: int = 10


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer: text, or a call of a tool, or both. `usage` None leaves the usage out.

    `shell` runs a command with whatever shell tool the request offers. A tool of an MCP server is named by `tool` and,
    where the wire has them, `namespace`.
    """

    text: str = ""
    shell: str | None = None
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    namespace: str | None = None
    usage: TurnUsage | None = field(default_factory=TurnUsage)
    model: str | None = None
    """The model that says it answered; None repeats the one asked."""

    @property
    def calls(self) -> bool:
        """Whether a tool is called."""
        return self.shell is not None or self.tool is not None


@dataclass(frozen=True, slots=True)
class Refuse:
    """An answer with an error status, in the wire's own form."""

    status: int
    kind: str = "invalid_request_error"
    message: str = "scripted"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection breaks after so many events of the stream, or before the answer when `events` is 0."""

    events: int = 2


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing comes until the endpoint is stopped: before the answer, or after so many events of the stream."""

    events: int = 0


@dataclass(frozen=True, slots=True)
class Garbage:
    """These bytes come in place of the answer, with status 200."""

    data: bytes = b"data: {not json\n\n\x00\xff"
    content_type: str = "text/event-stream"


type Disturbance = Refuse | Drop | Hang | Garbage


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. `prompt` is the last text a user gave, `results` what tools returned since, in order."""

    wire: str
    body: Json
    prompt: str
    results: tuple[str, ...]
    tools: tuple[str, ...]

    @property
    def position(self) -> int:
        """How many tool results came since the last prompt."""
        return len(self.results)


type Script = Callable[[Asked], Turn]


def by_position(turns: Sequence[Turn], aside: Turn | None = None) -> Script:
    """The turn whose place is the number of tool results since the last prompt, the last turn for all beyond.

    Requests that offer no tools (an agent's side calls, such as titles) get `aside`.
    """

    def script(asked: Asked) -> Turn:
        if not asked.tools:
            return aside or Turn(text="ok")
        return turns[min(asked.position, len(turns) - 1)]

    return script


def in_order(turns: Sequence[Turn]) -> Script:
    """One turn a request, whatever was asked; the last for all beyond."""
    lock = threading.Lock()
    given = 0

    def script(_asked: Asked) -> Turn:
        nonlocal given
        with lock:
            turn = turns[min(given, len(turns) - 1)]
            given += 1
        return turn

    return script
