"""How the messages of a row follow one another: who begins, who must be there, which result belongs to which call."""

from __future__ import annotations

from collections.abc import Sequence

from rsibench.gate.codes import Code
from rsibench.gate.problems import quoted
from rsibench.gate.shape import RowReport
from rsibench.rendering import ChatMessage

_TOOL_FIX = "give every tool call exactly one tool message, right after the message that calls"


def check_turns(messages: Sequence[ChatMessage], report: RowReport) -> None:
    """A row has a system message at most at its start, then a user message, and an assistant message to learn from."""
    for index, message in enumerate(messages):
        if message.role == "system" and index > 0:
            why = "a system message can only be the first"
            report.add(Code.MESSAGE_ORDER, why, "move it to the start", f"messages[{index}].role")
    opening = next((index for index, message in enumerate(messages) if message.role != "system"), None)
    if opening is not None and messages[opening].role != "user":
        why = f"the conversation begins with a message of the {messages[opening].role}"
        report.add(Code.MESSAGE_ORDER, why, "begin with a user message", f"messages[{opening}].role")
    roles = {message.role for message in messages}
    if "user" not in roles:
        report.add(Code.NO_USER_TURN, "the row has no user message", "add what the student is asked", "messages")
    if "assistant" not in roles:
        why = "the row has no assistant message, so there is nothing to learn from"
        report.add(Code.NO_TRAINABLE_TURN, why, "add what the student should answer", "messages")
    _check_tools(messages, report)


def _check_tools(messages: Sequence[ChatMessage], report: RowReport) -> None:
    """Results follow the message that called for them, one for each call, before anybody else speaks."""
    waiting: set[str] = set()
    seen: set[str] = set()
    for index, message in enumerate(messages):
        field = f"messages[{index}]"
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                why = f"this result answers {quoted(message.tool_call_id or '')}, which is not a call waiting for one"
                report.add(Code.TOOL_UNPAIRED, why, _TOOL_FIX, f"{field}.tool_call_id")
            waiting.discard(message.tool_call_id or "")
            continue
        _check_answered(waiting, f"before {field}", field, report)
        waiting = set()
        for call in message.tool_calls:
            if call.id in seen:
                why = f"the call id {quoted(call.id)} is used twice in the row"
                report.add(Code.TOOL_UNPAIRED, why, "give every call an id of its own", f"{field}.tool_calls")
            seen.add(call.id)
            waiting.add(call.id)
    _check_answered(waiting, "at the end of the row", "messages", report)


def _check_answered(waiting: set[str], where: str, field: str, report: RowReport) -> None:
    for identity in sorted(waiting):
        why = f"the tool call {quoted(identity)} has no result {where}"
        report.add(Code.TOOL_UNPAIRED, why, _TOOL_FIX, field)
