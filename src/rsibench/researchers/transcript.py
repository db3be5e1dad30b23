"""Raw transcripts: every line an agent printed, with the time it came, in a file of bounded size.

Invariant: one JSON object a line, `utc`, `monotonic_ns` and `line`. A line that does not fit is cut; after the file's
limit only a count of what was dropped is kept, and the agent is never blocked by a full file. The text is untrusted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from rsibench.spec.researcher import AgentEnd, EventKind, TranscriptEvent

MAX_TRANSCRIPT_BYTES = 256 << 20
MAX_LINE_CHARACTERS = 1 << 20
MAX_EVENT_CHARACTERS = 4_000


class Transcript:
    """Writes lines to a file and keeps the events that `parse` finds in them."""

    def __init__(
        self,
        path: Path,
        parse: Callable[[str], tuple[TranscriptEvent, ...]],
        *,
        max_bytes: int = MAX_TRANSCRIPT_BYTES,
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        self._left = max_bytes
        self._parse = parse
        self._events: list[TranscriptEvent] = []
        self.dropped_lines = 0
        """Lines that did not fit."""

    @property
    def events(self) -> tuple[TranscriptEvent, ...]:
        """Everything understood so far, in order."""
        return tuple(self._events)

    def pump(self, stream: IO[bytes]) -> None:
        """Takes lines until the stream ends."""
        for raw in iter(lambda: stream.readline(MAX_LINE_CHARACTERS), b""):
            self.add(raw.decode("utf-8", errors="replace").rstrip("\r\n"))

    def add(self, line: str) -> None:
        """One line."""
        record = {"utc": datetime.now(UTC).isoformat(), "monotonic_ns": time.monotonic_ns(), "line": line}
        data = json.dumps(record).encode() + b"\n"
        if len(data) > self._left:
            self.dropped_lines += 1
        else:
            self._left -= len(data)
            self._file.write(data)
            self._file.flush()
        self._events.extend(self._parse(line))

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


def event(kind: EventKind, text: object, *, failed: bool = False, api_status: int | None = None) -> TranscriptEvent:
    """An event with its text cut to what is kept."""
    said = text if isinstance(text, str) else json.dumps(text)
    return TranscriptEvent(kind, said[:MAX_EVENT_CHARACTERS], failed, api_status)


def json_line(line: str) -> dict[str, Any]:
    """The object of a line, or an empty one."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def end_of(events: tuple[TranscriptEvent, ...] | list[TranscriptEvent], exit_code: int | None) -> AgentEnd:
    """The common reading: the last result counts; without one the program crashed, unless its API had failed."""
    results = [one for one in events if one.kind is EventKind.RESULT]
    if results and not results[-1].failed:
        return AgentEnd.COMPLETED
    errors = [one for one in events if one.kind in (EventKind.ERROR, EventKind.RESULT) and one.failed]
    if any(one.api_status == 402 for one in errors):
        return AgentEnd.BUDGET
    if any(one.api_status is not None for one in errors) or (results and exit_code is not None):
        return AgentEnd.API_ERROR
    return AgentEnd.CRASHED


def session_of(events: tuple[TranscriptEvent, ...]) -> str | None:
    """The id of the last session that was named."""
    return next((one.text for one in reversed(events) if one.kind is EventKind.SESSION), None)
