"""OpenCode, over Chat Completions. It makes an extra call for a title, which the meter counts like any other."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rsibench.researchers.transcript import event, json_line
from rsibench.spec.researcher import AgentEnd, EventKind, ModelAccess, TranscriptEvent

_PROVIDER = "run"
_BUDGET_STATUS = 402


class OpenCode:
    """The adapter."""

    name = "opencode"
    stop_signal = signal.SIGTERM

    def prepare(self, home: Path, access: ModelAccess) -> dict[str, str]:
        """Writes opencode.json; the run token is in it, because the program has no other place for it."""
        folder = home / ".config" / "opencode"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "opencode.json").write_text(json.dumps(_config(access), indent=1) + "\n", encoding="utf-8")
        return {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local" / "share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_STATE_HOME": str(home / ".local" / "state"),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }

    def argv(self, program: Sequence[str], access: ModelAccess, prompt: str, session: str | None) -> tuple[str, ...]:
        """A call without a screen."""
        resume = ("--session", session) if session else ()
        return (*program, "run", "--model", f"{_PROVIDER}/{access.model}", "--format", "json", *resume, prompt)

    def parse(self, line: str) -> tuple[TranscriptEvent, ...]:
        """Events of one line."""
        return tuple(_events(json_line(line)))

    def outcome(self, events: Sequence[TranscriptEvent], exit_code: int | None) -> AgentEnd:
        """It prints no result line: its exit code tells, unless its last word was an error."""
        last = next((one for one in reversed(events) if one.kind in (EventKind.ERROR, EventKind.MESSAGE)), None)
        if last is not None and last.kind is EventKind.ERROR:
            return AgentEnd.BUDGET if last.api_status == _BUDGET_STATUS else AgentEnd.API_ERROR
        return AgentEnd.COMPLETED if exit_code == 0 and last is not None else AgentEnd.CRASHED


def _config(access: ModelAccess) -> dict[str, Any]:
    options = {"baseURL": f"{access.base_url}/openai/v1", "apiKey": access.token}
    effort = {"options": {"reasoningEffort": access.effort}} if access.effort else {}
    models = {access.model: {"name": access.model, "tool_call": True, **effort}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": _PROVIDER, "options": options, "models": models}
    return {
        "autoupdate": False,
        "share": "disabled",
        "enabled_providers": [_PROVIDER],
        "model": f"{_PROVIDER}/{access.model}",
        "small_model": f"{_PROVIDER}/{access.model}",
        "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"},
        "provider": {_PROVIDER: provider},
    }


def _events(said: dict[str, Any]) -> Iterator[TranscriptEvent]:
    kind, part = said.get("type"), said.get("part")
    part = part if isinstance(part, dict) else {}
    if kind == "step_start" and said.get("sessionID"):
        yield event(EventKind.SESSION, said["sessionID"])
    elif kind == "text":
        yield event(EventKind.MESSAGE, part.get("text") or "")
    elif kind == "tool_use":
        state = part.get("state") if isinstance(part.get("state"), dict) else {}
        given = (state or {}).get("input")
        command = given.get("command") if isinstance(given, dict) else None
        yield event(EventKind.TOOL_CALL, command or given or "")
        failed = (state or {}).get("status") == "error"
        yield event(EventKind.TOOL_RESULT, (state or {}).get("output") or "", failed=failed)
    elif kind == "error":
        yield event(EventKind.ERROR, said.get("error") or "", failed=True, api_status=_status(said.get("error")))


def _status(error: object) -> int | None:
    data = error.get("data") if isinstance(error, dict) else None
    found = data.get("statusCode") if isinstance(data, dict) else None
    return found if isinstance(found, int) else None
