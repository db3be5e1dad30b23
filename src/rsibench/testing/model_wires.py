"""The three wires of a scripted model: what was asked in each, and a turn as a JSON answer or as a stream of events.

Faithful enough for the providers' own clients and for command line agents; only what those read is there.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rsibench.testing.model_turns import Asked, Json, Turn, TurnUsage

MESSAGES, RESPONSES, CHAT = "messages", "responses", "chat"
_SHELL_TOOLS = ("exec_command", "shell_command", "shell", "bash", "run_shell_command", "execute_command")
_RESULT_ITEMS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_CREATED = 1_893_456_000


class SentEvent(NamedTuple):
    """One event of a stream; `name` None is left out of the wire."""

    name: str | None
    data: Json | str

    def encoded(self) -> bytes:
        """The event's bytes."""
        head = f"event: {self.name}\n" if self.name else ""
        data = self.data if isinstance(self.data, str) else json.dumps(self.data)
        return f"{head}data: {data}\n\n".encode()


class ToolUse(NamedTuple):
    """A call in the terms of the tools that a request offered."""

    name: str
    arguments: Json
    source: str | None = None
    """Free text for a custom tool, in place of arguments."""


def wire_of(path: str) -> str | None:
    """The wire that a request's path belongs to, whatever comes before it."""
    ends = {"/messages": MESSAGES, "/responses": RESPONSES, "/chat/completions": CHAT}
    return next((wire for end, wire in ends.items() if path.endswith(end)), None)


def asked(wire: str, body: Json) -> Asked:
    """What a request asks."""
    prompt, results = {MESSAGES: _of_messages, RESPONSES: _of_responses, CHAT: _of_messages}[wire](body)
    return Asked(wire, body, prompt, tuple(results), tuple(_tools(body)))


def error_body(wire: str | None, kind: str, message: str) -> Json:
    """An error in the wire's form."""
    error = {"type": kind, "message": message}
    return {"type": "error", "error": error} if wire == MESSAGES else {"error": {**error, "code": kind, "param": None}}


def answer(wire: str, ask: Asked, turn: Turn) -> Json:
    """A turn as one JSON answer."""
    if wire == MESSAGES:
        return _message(ask, turn)
    return _response(ask, turn) if wire == RESPONSES else _completion(ask, turn)


def events(wire: str, ask: Asked, turn: Turn) -> Iterator[SentEvent]:
    """A turn as a stream."""
    if wire == MESSAGES:
        return _message_events(_message(ask, turn))
    if wire == RESPONSES:
        return _response_events(_response(ask, turn))
    wants_usage = bool((ask.body.get("stream_options") or {}).get("include_usage"))
    return _completion_events(_completion(ask, turn), wants_usage)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(_text(part.get("text") or part.get("content") or "") for part in parts if isinstance(part, dict))


def _of_messages(body: Json) -> tuple[str, list[str]]:
    prompt, results = "", list[str]()
    for message in body.get("messages", []):
        content = message.get("content")
        if message["role"] == "tool":
            results.append(_text(content))
        if message["role"] != "user":
            continue
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        found = [_text(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
        said = [_text([block]) for block in blocks if block.get("type") == "text"]
        spoken = [text for text in said if "<system-reminder>" not in text]
        if found:
            results.extend(found)
        elif spoken:
            prompt, results = spoken[-1], []
    return prompt, results


def _of_responses(body: Json) -> tuple[str, list[str]]:
    given = body.get("input")
    items = given if isinstance(given, list) else [{"role": "user", "content": given}]
    prompt, results = "", list[str]()
    for item in items:
        if item.get("type") in _RESULT_ITEMS:
            results.append(_text(item.get("output")))
        elif item.get("role") == "user":
            prompt, results = _text(item.get("content")), []
    return prompt, results


def _tools(body: Json) -> dict[str, Json]:
    """Every offered tool by name, those in namespaces too."""
    found: dict[str, Json] = {}
    for tool in body.get("tools") or []:
        for inner in tool.get("tools", []) if tool.get("type") == "namespace" else [tool.get("function", tool)]:
            found[str(inner.get("name") or inner.get("type"))] = inner
    return found


def _use(ask: Asked, turn: Turn) -> ToolUse:
    """The tool that a turn calls, the request's own shell for a command."""
    if turn.tool is not None:
        return ToolUse(turn.tool, dict(turn.arguments))
    command, tools = turn.shell or "", _tools(ask.body)
    named = {name.lower(): name for name in tools}
    name = next((named[shell] for shell in _SHELL_TOOLS if shell in named), None)
    if name is None and "exec" in tools:
        source = f"const r = await tools.exec_command({{cmd: {json.dumps(command)}}}); text(JSON.stringify(r));"
        return ToolUse("exec", {}, source)
    schema = tools.get(name or "", {})
    parameters = schema.get("parameters") or schema.get("input_schema") or {}
    return ToolUse(name or "bash", _arguments(parameters, command))


def _arguments(parameters: Json, command: str) -> Json:
    """Arguments that satisfy a shell tool's schema."""
    properties: Mapping[str, Json] = parameters.get("properties") or {}
    key = next((key for key in ("command", "cmd") if key in properties), next(iter(properties), "command"))
    is_list = properties.get(key, {}).get("type") == "array"
    made: Json = {key: ["bash", "-lc", command] if is_list else command}
    if "description" in properties:
        made["description"] = "run a command"
    for required in parameters.get("required") or []:
        kind = properties.get(required, {}).get("type")
        made.setdefault(required, {"boolean": False, "number": 1, "integer": 1, "array": []}.get(str(kind), "x"))
    return made


def _id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


def _model(ask: Asked, turn: Turn) -> Any:
    return turn.model or ask.body.get("model")


def _message(ask: Asked, turn: Turn) -> Json:
    content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text or not turn.calls else []
    if turn.calls:
        use = _use(ask, turn)
        content.append({"type": "tool_use", "id": _id("toolu"), "name": use.name, "input": use.arguments})
    made: Json = {"id": _id("msg"), "type": "message", "role": "assistant", "model": _model(ask, turn)}
    made |= {"content": content, "stop_reason": "tool_use" if turn.calls else "end_turn", "stop_sequence": None}
    return made if turn.usage is None else made | {"usage": _message_usage(turn.usage)}


def _message_usage(usage: TurnUsage) -> Json:
    split = {"ephemeral_5m_input_tokens": usage.written, "ephemeral_1h_input_tokens": usage.written_1h}
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.written + usage.written_1h,
        "cache_creation": split,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }


def _message_events(message: Json) -> Iterator[SentEvent]:
    def event(kind: str, **rest: Any) -> SentEvent:
        return SentEvent(kind, {"type": kind, **rest})

    usage = message.get("usage")
    start = message | {"content": [], "stop_reason": None}
    yield event("message_start", message=start | ({} if usage is None else {"usage": usage | {"output_tokens": 1}}))
    for index, block in enumerate(message["content"]):
        is_text = block["type"] == "text"
        emptied: dict[str, object] = {"text": ""} if is_text else {"input": {}}
        yield event("content_block_start", index=index, content_block=block | emptied)
        for piece in _pieces(block["text"] if is_text else json.dumps(block["input"])):
            kind = {"type": "text_delta", "text": piece} if is_text else {"type": "input_json_delta"}
            delta = kind if is_text else kind | {"partial_json": piece}
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    end = {} if usage is None else {"usage": {"output_tokens": usage["output_tokens"]}}
    yield event("message_delta", delta={"stop_reason": message["stop_reason"], "stop_sequence": None}, **end)
    yield event("message_stop")


def _pieces(text: str) -> Sequence[str]:
    """A text in two parts, so that a stream has something to break in."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece] or [""]


def _response(ask: Asked, turn: Turn) -> Json:
    output: list[Json] = []
    if turn.text or not turn.calls:
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        made = {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": [part]}
        output.append(made)
    if turn.calls:
        use = _use(ask, turn)
        item: Json = {"id": _id("fc"), "call_id": _id("call"), "name": use.name, "status": "completed"}
        if use.source is None:
            item |= {"type": "function_call", "arguments": json.dumps(use.arguments)}
        else:
            item |= {"type": "custom_tool_call", "input": use.source}
        output.append(item | ({"namespace": turn.namespace} if turn.namespace else {}))
    response: Json = {"id": _id("resp"), "object": "response", "created_at": _CREATED, "status": "completed"}
    response |= {"model": _model(ask, turn), "output": output, "error": None, "incomplete_details": None}
    response |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return response if turn.usage is None else response | {"usage": _response_usage(turn.usage)}


def _response_usage(usage: TurnUsage) -> Json:
    read = usage.input + usage.cached
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": read + usage.output,
    }


def _response_events(response: Json) -> Iterator[SentEvent]:
    number = 0

    def event(kind: str, **rest: Any) -> SentEvent:
        nonlocal number
        number += 1
        return SentEvent(kind, {"type": kind, "sequence_number": number - 1, **rest})

    begun = {key: value for key, value in response.items() if key != "usage"} | {"status": "in_progress", "output": []}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for place, item in enumerate(response["output"]):
        where = {"item_id": item["id"], "output_index": place}
        if item["type"] == "message":
            part = item["content"][0]
            empty = item | {"content": [], "status": "in_progress"}
            yield event("response.output_item.added", output_index=place, item=empty)
            yield event("response.content_part.added", **where, content_index=0, part=part | {"text": ""})
            for piece in _pieces(part["text"]):
                yield event("response.output_text.delta", **where, content_index=0, delta=piece, logprobs=[])
            yield event("response.output_text.done", **where, content_index=0, text=part["text"], logprobs=[])
            yield event("response.content_part.done", **where, content_index=0, part=part)
        else:
            key, kind = (
                ("arguments", "function_call_arguments") if "arguments" in item else ("input", "custom_tool_call_input")
            )
            yield event(
                "response.output_item.added", output_index=place, item=item | {key: "", "status": "in_progress"}
            )
            for piece in _pieces(item[key]):
                yield event(f"response.{kind}.delta", **where, delta=piece)
            yield event(f"response.{kind}.done", **where, **{key: item[key]})
        yield event("response.output_item.done", output_index=place, item=item)
    yield event("response.completed", response=response)


def _completion(ask: Asked, turn: Turn) -> Json:
    message: Json = {"role": "assistant", "content": turn.text if turn.text or not turn.calls else None}
    if turn.calls:
        use = _use(ask, turn)
        function = {"name": use.name, "arguments": json.dumps(use.arguments)}
        message["tool_calls"] = [{"id": _id("call"), "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if turn.calls else "stop"}
    made = {"id": _id("chatcmpl"), "object": "chat.completion", "created": _CREATED, "model": _model(ask, turn)}
    return made | {"choices": [choice]} | ({} if turn.usage is None else {"usage": _completion_usage(turn.usage)})


def _completion_usage(usage: TurnUsage) -> Json:
    read = usage.input + usage.cached
    return {
        "prompt_tokens": read,
        "completion_tokens": usage.output,
        "total_tokens": read + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _completion_events(completion: Json, wants_usage: bool) -> Iterator[SentEvent]:
    base = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = completion["choices"][0]
    message = choice["message"]

    def event(delta: Json, finish: str | None = None) -> SentEvent:
        return SentEvent(None, base | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield event({"role": "assistant", "content": ""})
    if message["content"]:
        for piece in _pieces(message["content"]):
            yield event({"content": piece})
    for place, call in enumerate(message.get("tool_calls", [])):
        function = {"name": call["function"]["name"], "arguments": ""}
        yield event({"tool_calls": [{"index": place, "id": call["id"], "type": "function", "function": function}]})
        for piece in _pieces(call["function"]["arguments"]):
            yield event({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
    yield event({}, choice["finish_reason"])
    if wants_usage and "usage" in completion:
        yield SentEvent(None, base | {"choices": [], "usage": completion["usage"]})
    yield SentEvent(None, "[DONE]")
