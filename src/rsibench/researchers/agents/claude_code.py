"""Claude Code. Its failures say subtype `success`, so a result is read by `is_error` and `api_error_status` only.

Its own costs are not used: they add up over resumed sessions and are made up for models it does not know.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rsibench.researchers.transcript import end_of, event, json_line
from rsibench.spec.researcher import AgentEnd, EventKind, ModelAccess, TranscriptEvent

_BLOCKING_MS = "7200000"


class ClaudeCode:
    """The adapter."""

    name = "claude-code"
    stop_signal = signal.SIGINT

    def prepare(self, home: Path, access: ModelAccess) -> dict[str, str]:
        """Everything is said by environment variables."""
        (home / "claude").mkdir(parents=True, exist_ok=True)
        return {
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home / "claude"),
            "ANTHROPIC_BASE_URL": f"{access.base_url}/anthropic",
            "ANTHROPIC_API_KEY": access.token,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_MAX_RETRIES": "4",
            "BASH_DEFAULT_TIMEOUT_MS": _BLOCKING_MS,
            "BASH_MAX_TIMEOUT_MS": _BLOCKING_MS,
            "MCP_CONNECTION_NONBLOCKING": "false",
            "IS_SANDBOX": "1",
        }

    def argv(self, program: Sequence[str], access: ModelAccess, prompt: str, session: str | None) -> tuple[str, ...]:
        """A print-mode call with every event as a line."""
        head = (*program, "-p", prompt, "--output-format", "stream-json", "--verbose", "--model", access.model)
        effort = ("--effort", access.effort) if access.effort else ()
        resume = ("--resume", session) if session else ()
        tools = ("--dangerously-skip-permissions", "--disallowedTools", "WebSearch,WebFetch")
        return (*head, *effort, *resume, *tools)

    def parse(self, line: str) -> tuple[TranscriptEvent, ...]:
        """Events of one line."""
        return tuple(_events(json_line(line)))

    def outcome(self, events: Sequence[TranscriptEvent], exit_code: int | None) -> AgentEnd:
        """By the last result line."""
        return end_of(list(events), exit_code)


def _events(said: dict[str, Any]) -> Iterator[TranscriptEvent]:
    kind = said.get("type")
    if kind == "system" and said.get("subtype") == "init":
        yield event(EventKind.SESSION, said.get("session_id", ""))
    elif kind == "system" and said.get("subtype") == "api_retry":
        yield event(EventKind.ERROR, said, failed=False, api_status=_status(said.get("error_status")))
    elif kind in ("assistant", "user"):
        message = said.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else []:
            yield from _block(block)
    elif kind == "result":
        failed = bool(said.get("is_error"))
        status = _status(said.get("api_error_status")) if failed else None
        yield event(EventKind.RESULT, said.get("result") or "", failed=failed, api_status=status)


def _block(block: object) -> Iterator[TranscriptEvent]:
    if not isinstance(block, dict):
        return
    if block.get("type") == "text":
        yield event(EventKind.MESSAGE, block.get("text", ""))
    elif block.get("type") == "tool_use":
        given = block.get("input")
        command = given.get("command") if isinstance(given, dict) else None
        yield event(EventKind.TOOL_CALL, command or given or "")
    elif block.get("type") == "tool_result":
        yield event(EventKind.TOOL_RESULT, block.get("content") or "", failed=bool(block.get("is_error")))


def _status(found: object) -> int | None:
    return found if isinstance(found, int) else None
