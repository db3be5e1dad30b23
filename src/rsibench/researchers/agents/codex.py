"""Codex. The provider's own web search is switched off here, and must be refused by the model endpoint all the same."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rsibench.researchers.transcript import end_of, event, json_line
from rsibench.spec.researcher import AgentEnd, EventKind, ModelAccess, TranscriptEvent

_STATUS = re.compile(r"\b(?:status|HTTP)\s*:?\s*(\d{3})\b|\b(4\d\d|5\d\d)\b")
_TOKEN_VARIABLE = "RSIBENCH_RUN_TOKEN"  # noqa: S105 - the name of a variable


class Codex:
    """The adapter."""

    name = "codex"
    stop_signal = signal.SIGTERM

    def prepare(self, home: Path, access: ModelAccess) -> dict[str, str]:
        """Writes config.toml; the run token is in the environment only."""
        folder = home / "codex"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(_config(access), encoding="utf-8")
        return {"HOME": str(home), "CODEX_HOME": str(folder), _TOKEN_VARIABLE: access.token}

    def argv(self, program: Sequence[str], access: ModelAccess, prompt: str, session: str | None) -> tuple[str, ...]:  # noqa: ARG002 - model and effort are in config.toml
        """A call without a screen; approvals and its own sandbox are off, because isolation is ours to give."""
        flags = ("--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
        resume = ("resume",) if session else ()
        return (*program, "exec", *resume, *flags, *((session,) if session else ()), prompt)

    def parse(self, line: str) -> tuple[TranscriptEvent, ...]:
        """Events of one line."""
        return tuple(_events(json_line(line)))

    def outcome(self, events: Sequence[TranscriptEvent], exit_code: int | None) -> AgentEnd:
        """By the last turn's end."""
        return end_of(list(events), exit_code)


def _config(access: ModelAccess) -> str:
    effort = f"model_reasoning_effort = {json.dumps(access.effort)}\n" if access.effort else ""
    return (
        f"model = {json.dumps(access.model)}\n{effort}"
        'model_provider = "run"\nweb_search = "disabled"\ncheck_for_update_on_startup = false\n'
        "[analytics]\nenabled = false\n"
        f'[model_providers.run]\nname = "run"\nbase_url = {json.dumps(access.base_url + "/openai/v1")}\n'
        f'env_key = "{_TOKEN_VARIABLE}"\nwire_api = "responses"\nrequest_max_retries = 4\nstream_max_retries = 4\n'
    )


def _events(said: dict[str, Any]) -> Iterator[TranscriptEvent]:
    kind, item = said.get("type"), said.get("item")
    if kind == "thread.started":
        yield event(EventKind.SESSION, said.get("thread_id", ""))
    elif kind == "turn.completed":
        yield event(EventKind.RESULT, said.get("usage") or "")
    elif kind == "turn.failed":
        text = json.dumps(said.get("error"))
        yield event(EventKind.RESULT, text, failed=True, api_status=_status(text))
    elif kind in ("item.started", "item.completed") and isinstance(item, dict):
        yield from _item(item, done=kind == "item.completed")


def _item(item: dict[str, Any], *, done: bool) -> Iterator[TranscriptEvent]:
    kind = item.get("type")
    if kind == "agent_message" and done:
        yield event(EventKind.MESSAGE, item.get("text") or "")
    elif kind == "error" and done:
        yield event(EventKind.ERROR, item.get("message") or "")
    elif kind in ("command_execution", "mcp_tool_call") and not done:
        yield event(EventKind.TOOL_CALL, item.get("command") or item.get("arguments") or "")
    elif kind in ("command_execution", "mcp_tool_call"):
        output = item.get("aggregated_output") or item.get("result") or ""
        yield event(EventKind.TOOL_RESULT, output, failed=bool(item.get("exit_code")))


def _status(text: str) -> int | None:
    found = _STATUS.search(text)
    return int(found.group(1) or found.group(2)) if found else None
