"""One message of a row: its keys, types and values, by role.

Invariant: a message that comes out of here is one that every renderer can turn into tokens as far as its form goes.
How messages follow one another is `turns.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from pydantic import JsonValue

from rsibench.gate.codes import Code
from rsibench.gate.problems import quoted
from rsibench.gate.shape import JsonObject, RowReport, check_keys, inside, list_of, object_of, text_of
from rsibench.gate.strict_json import StrictReader
from rsibench.rendering import ChatMessage, FunctionCall, Role, ToolCall

_ROLES: tuple[Role, ...] = get_args(Role)
_OPTIONAL_KEYS: dict[Role, Sequence[str]] = {"system": (), "user": (), "assistant": ("tool_calls",), "tool": ("name",)}
_NEEDED_KEYS: dict[Role, Sequence[str]] = {
    "system": ("role", "content"),
    "user": ("role", "content"),
    "assistant": ("role", "content"),
    "tool": ("role", "content", "tool_call_id"),
}


class MessageReader:
    """Reads messages; `max_depth` bounds the nesting of a tool call's arguments."""

    def __init__(self, max_depth: int) -> None:
        self._arguments = StrictReader(max_depth)

    def read(self, value: JsonValue, field: str, report: RowReport) -> ChatMessage | None:
        """The message, or None when anything about it is wrong; all of it goes to `report`."""
        before = len(report.problems)
        message = object_of(value, field, report)
        role = None if message is None else _role(message, field, report)
        if message is None or role is None:
            return None
        check_keys(message, field, _NEEDED_KEYS[role], _OPTIONAL_KEYS[role], report)
        calls = self._calls(message, field, report) if role == "assistant" else ()
        content = _content(message, role, field, report)
        answers = _name(message, "tool_call_id", field, report) if role == "tool" else None
        name = _name(message, "name", field, report) if role == "tool" else None
        if content is None or len(report.problems) > before:
            return None
        return ChatMessage(role=role, content=content, tool_calls=calls, tool_call_id=answers, name=name)

    def _calls(self, message: JsonObject, field: str, report: RowReport) -> tuple[ToolCall, ...]:
        members = list_of(message, "tool_calls", field, report) or []
        paths = [f"{inside(field, 'tool_calls')}[{index}]" for index in range(len(members))]
        calls = [self._call(member, path, report) for member, path in zip(members, paths, strict=True)]
        return tuple(call for call in calls if call is not None)

    def _call(self, value: JsonValue, field: str, report: RowReport) -> ToolCall | None:
        call = object_of(value, field, report)
        if call is None:
            return None
        check_keys(call, field, ("id", "type", "function"), (), report)
        if call.get("type", "function") != "function":
            report.add(
                Code.BAD_VALUE, "a tool call's type is always function", 'write "type": "function"', f"{field}.type"
            )
        identity = _name(call, "id", field, report)
        path = inside(field, "function")
        function = object_of(call["function"], path, report) if "function" in call else None
        if function is None:
            return None
        check_keys(function, path, ("name", "arguments"), (), report)
        name = _name(function, "name", path, report)
        arguments = self._arguments_of(function, path, report)
        if identity is None or name is None or arguments is None:
            return None
        return ToolCall(id=identity, function=FunctionCall(name=name, arguments=arguments))

    def _arguments_of(self, function: JsonObject, field: str, report: RowReport) -> str | None:
        """The arguments as written: a string that holds a JSON object, held to the same rules as the file."""
        text = text_of(function, "arguments", field, report)
        if text is None:
            return None
        path = inside(field, "arguments")
        parsed = self._arguments.parse(text)
        for finding in parsed.findings:
            report.add(finding.code, f"in the arguments: {finding.why}", finding.fix, path)
        if parsed.findings:
            return None
        if isinstance(parsed.value, dict):
            return text
        report.add(Code.NOT_AN_OBJECT, "arguments must be the text of a JSON object", 'write "{}" or the like', path)
        return None


def _role(message: JsonObject, field: str, report: RowReport) -> Role | None:
    path = inside(field, "role")
    if "role" not in message:
        report.add(Code.MISSING_KEY, "role is missing", f"add role: {', '.join(_ROLES)}", path)
        return None
    written = text_of(message, "role", field, report)
    for role in _ROLES:
        if written == role:
            return role
    if written is not None:
        report.add(Code.BAD_VALUE, f"{quoted(written)} is not a role", f"use one of {', '.join(_ROLES)}", path)
    return None


def _content(message: JsonObject, role: Role, field: str, report: RowReport) -> str | None:
    """The content. Only a tool result may be empty, and an assistant message that calls tools."""
    content = text_of(message, "content", field, report)
    may_be_empty = role == "tool" or (role == "assistant" and bool(message.get("tool_calls")))
    if content is not None and not content.strip() and not may_be_empty:
        report.add(Code.EMPTY_CONTENT, f"the {role} message has no text", "write the text", inside(field, "content"))
        return None
    return content


def _name(value: JsonObject, key: str, field: str, report: RowReport) -> str | None:
    """A string that is not empty."""
    text = text_of(value, key, field, report)
    if text == "":
        report.add(Code.EMPTY_CONTENT, f"{key} is empty", "write a name", inside(field, key))
        return None
    return text
