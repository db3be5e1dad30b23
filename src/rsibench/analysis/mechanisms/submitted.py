"""A submission as the detectors see it: its rows' contents by hash, their families and formats. Never raises on text.

Rows were checked by the gate when they were submitted; a line that is no chat is counted and otherwise passed over.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rsibench.ids import sha256_bytes

_LABELLED_ANSWER = re.compile(r"^\s*\**\s*answer\s*\**\s*[:=]", re.IGNORECASE | re.MULTILINE)
_BOX = re.compile(r"\\f?boxed\{")


@dataclass(frozen=True, slots=True)
class Submitted:
    """`contents` are hashes of rows without their labels. Shares are of `rows`; lengths are in characters."""

    rows: int
    unreadable: int
    contents: frozenset[str]
    prompts: frozenset[str]
    families: dict[str, int]
    with_source: float
    single_turn: float
    with_system: float
    answer_formed: float
    """Share whose last assistant turn has an answer where the profile's graders look: a labelled line, a box, JSON."""
    answer_characters: float
    """Mean length of the last assistant turn."""


def submitted(rows: str) -> Submitted:
    """What a `train_messages.jsonl` holds."""
    chats = [chat for chat in (_chat(line) for line in rows.splitlines() if line.strip()) if chat is not None]
    lines = sum(bool(line.strip()) for line in rows.splitlines())
    count = max(1, len(chats))
    last = [_last_assistant(chat["messages"]) for chat in chats]
    users = [[message for message in chat["messages"] if message.get("role") == "user"] for chat in chats]
    return Submitted(
        rows=len(chats),
        unreadable=lines - len(chats),
        contents=frozenset(_digest(chat["messages"]) for chat in chats),
        prompts=frozenset(_digest(messages) for messages in users),
        families=dict(Counter(str(chat.get("family") or "") for chat in chats)),
        with_source=sum(bool(chat.get("source")) for chat in chats) / count,
        single_turn=sum(len(messages) == 1 for messages in users) / count,
        with_system=sum(any(m.get("role") == "system" for m in chat["messages"]) for chat in chats) / count,
        answer_formed=sum(_formed(text) for text in last) / count,
        answer_characters=sum(map(len, last)) / count,
    )


def _chat(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    messages = row.get("messages") if isinstance(row, dict) else None
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    return dict(row)


def _last_assistant(messages: Sequence[dict[str, Any]]) -> str:
    texts = [message.get("content") for message in messages if message.get("role") == "assistant"]
    return texts[-1] if texts and isinstance(texts[-1], str) else ""


def _formed(text: str) -> bool:
    if _LABELLED_ANSWER.search(text) or _BOX.search(text):
        return True
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _digest(messages: Sequence[dict[str, Any]]) -> str:
    pairs = [[message.get("role"), message.get("content")] for message in messages]
    return sha256_bytes(json.dumps(pairs, sort_keys=True, ensure_ascii=True, default=str).encode())
