"""What a message accepts and what it refuses."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rsibench.rendering import ChatMessage, FunctionCall, ToolCall

CALL = ToolCall(id="c1", function=FunctionCall(name="add", arguments='{"a": 1}'))


def test_a_line_of_a_training_file_is_read() -> None:
    message = ChatMessage.model_validate_json(
        '{"role": "assistant", "content": "", "tool_calls": '
        '[{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\\"a\\": 1}"}}]}'
    )
    assert message == ChatMessage(role="assistant", content="", tool_calls=(CALL,))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"role": "user"}', "content"),
        ('{"role": "user", "content": null}', "content"),
        ('{"role": "User", "content": "x"}', "role"),
        ('{"role": "user", "content": "x", "weight": 1}', "weight"),
        ('{"role": "user", "content": "x", "name": "bob"}', "only a tool message"),
        ('{"role": "user", "content": "x", "tool_call_id": "c1"}', "only a tool message"),
        ('{"role": "tool", "content": "x"}', "needs the tool_call_id"),
        ('{"role": "tool", "content": "x", "tool_call_id": ""}', "tool_call_id"),
    ],
)
def test_a_field_that_means_nothing_there_is_refused(line: str, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        ChatMessage.model_validate_json(line)


@pytest.mark.parametrize("role", ["system", "user", "tool"])
def test_only_an_assistant_calls_tools(role: str) -> None:
    with pytest.raises(ValidationError, match="only an assistant message may have tool_calls"):
        ChatMessage.model_validate({"role": role, "content": "", "tool_calls": [CALL.model_dump()]})


@pytest.mark.parametrize("arguments", ["", "[]", "1", "{", '{"a": NaN}', "[" * 100_000])
def test_arguments_are_the_text_of_a_json_object(arguments: str) -> None:
    with pytest.raises(ValidationError, match="arguments"):
        FunctionCall(name="add", arguments=arguments)


def test_texts_are_all_that_is_rendered() -> None:
    message = ChatMessage(role="assistant", content="well", tool_calls=(CALL,))
    assert message.texts() == ("well", "add", '{"a": 1}')
