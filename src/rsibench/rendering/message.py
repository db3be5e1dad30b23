"""One chat message: what a line of `train_messages.jsonl` holds and what an evaluation prompt is made of.

Invariant: a message holds only what its role can mean; a field that no template would render is refused, not ignored.
It is not a template: how a message becomes text is the renderer's affair. Whether the messages of a chat fit together
(calls paired with results, something to train on) is checked where a chat is accepted.
"""

from __future__ import annotations

import json
from typing import Literal, NoReturn, Self

from pydantic import Field, field_validator, model_validator

from rsibench.spec.frozen import Frozen

Role = Literal["system", "user", "assistant", "tool"]


class FunctionCall(Frozen):
    """Which function is called and with what. `arguments` is the text of a JSON object and is rendered as written."""

    name: str = Field(min_length=1)
    arguments: str

    @field_validator("arguments")
    @classmethod
    def _json_object(cls, value: str) -> str:
        try:
            parsed = json.loads(value, parse_constant=_not_json)
        except RecursionError:
            raise ValueError("arguments are nested too deeply") from None
        except ValueError as error:
            raise ValueError(f"arguments must be the text of a JSON object: {error}") from None
        if not isinstance(parsed, dict):
            raise ValueError("arguments must be the text of a JSON object, such as {}")
        return value


class ToolCall(Frozen):
    """One call that an assistant turn makes. `id` pairs it with the tool message that answers it; never rendered."""

    id: str = Field(min_length=1)
    type: Literal["function"] = "function"
    function: FunctionCall


class ChatMessage(Frozen):
    """One turn. Only an assistant may call tools; only a tool message, and every one, names the call that it answers.

    `name` is the function that a tool message answers for. It is for readers: results are rendered in the order given.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = Field(default=None, min_length=1)
    name: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _fields_fit_role(self) -> Self:
        if self.tool_calls and self.role != "assistant":
            raise ValueError(f"only an assistant message may have tool_calls, not a {self.role} message")
        if self.role == "tool" and self.tool_call_id is None:
            raise ValueError("a tool message needs the tool_call_id of the call that it answers")
        if self.role != "tool" and (self.tool_call_id is not None or self.name is not None):
            raise ValueError(f"only a tool message may have tool_call_id or name, not a {self.role} message")
        return self

    def texts(self) -> tuple[str, ...]:
        """Every text that a template may render: the content, and the name and arguments of each call."""
        calls = tuple(text for call in self.tool_calls for text in (call.function.name, call.function.arguments))
        return (self.content, *calls)


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
