"""For any chat: prefix and prompt are the same tokens, only answers are learned, and the text survives.

The reference template here is written a second time, as one string.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from rsibench.rendering import ChatMessage, FunctionCall, Renderer, ToolCall, load_renderer
from rsibench.testing.tokenizer import tiny_tokenizer

PIECES = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "\n",
    "\r\n",
    " ",
    "the",
    "user",
    "\u200b",
    "\x00",
    "é",
    "日本",
]
TEXTS = st.lists(st.text(max_size=6) | st.sampled_from(PIECES), max_size=6).map("".join)
NAMES = st.text(min_size=1, max_size=6)
CALLS = st.builds(
    ToolCall,
    id=NAMES,
    function=st.builds(
        FunctionCall,
        name=NAMES,
        arguments=st.dictionaries(TEXTS, TEXTS | st.integers(), max_size=2).map(
            lambda arguments: json.dumps(arguments, ensure_ascii=False)
        ),
    ),
)
MESSAGES = st.one_of(
    st.builds(ChatMessage, role=st.sampled_from(["system", "user"]), content=TEXTS),
    st.builds(ChatMessage, role=st.just("assistant"), content=TEXTS),
    st.builds(ChatMessage, role=st.just("assistant"), content=TEXTS, tool_calls=st.lists(CALLS, max_size=2).map(tuple)),
    st.builds(ChatMessage, role=st.just("tool"), content=TEXTS, tool_call_id=NAMES),
)
CHATS = st.lists(MESSAGES, max_size=7)


@pytest.fixture(scope="module", params=["tiny", pytest.param("real", marks=pytest.mark.student)])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "tiny":
        return tiny_tokenizer(tmp_path_factory.mktemp("tiny"))
    real: Path = request.getfixturevalue("student_folder")
    return real


@pytest.fixture(scope="module")
def renderer(folder: Path) -> Renderer:
    return load_renderer("chatml", folder)


def body(message: ChatMessage) -> str:
    """The template's body of a turn, as text."""
    if message.role == "tool":
        return f"<tool_response>\n{message.content}\n</tool_response>"
    blocks = [message.content] if message.content or not message.tool_calls else []
    for call in message.tool_calls:
        name = json.dumps(call.function.name, ensure_ascii=False)
        blocks.append(f'<tool_call>\n{{"name": {name}, "arguments": {call.function.arguments}}}\n</tool_call>')
    return "\n".join(blocks)


def as_text(messages: Sequence[ChatMessage]) -> str:
    """The whole chat as text."""
    return "".join(f"<|im_start|>{message.role}\n{body(message)}<|im_end|>\n" for message in messages)


def encodable(renderer: Renderer, messages: Sequence[ChatMessage]) -> bool:
    return not any(renderer.unencodable_in(text) for message in messages for text in message.texts())


@given(chat=CHATS, answer=TEXTS, last_only=st.booleans())
@settings(deadline=None)
def test_a_rows_prefix_is_the_prompt_and_only_answers_are_learned(
    renderer: Renderer, chat: list[ChatMessage], answer: str, last_only: bool
) -> None:
    messages = [*chat, ChatMessage(role="assistant", content=answer)]
    assume(encodable(renderer, messages))
    row = renderer.render_row(messages, last_only)
    turns = [index for index, message in enumerate(messages) if message.role == "assistant"]
    expected_mask = [False] * len(row.token_ids)
    for index in turns:
        prompt = renderer.render_prompt(messages[:index])
        assert row.token_ids[: len(prompt)] == prompt
        end = row.token_ids.index(renderer.stop_token_ids[0], len(prompt))
        assert renderer.decode(row.token_ids[len(prompt) : end + 1]) == f"{body(messages[index])}<|im_end|>"
        if index == turns[-1] or not last_only:
            expected_mask[len(prompt) : end + 1] = [True] * (end + 1 - len(prompt))
    assert list(row.loss_mask) == expected_mask
    assert any(row.loss_mask)


@given(chat=CHATS)
@settings(deadline=None)
def test_text_survives_and_never_becomes_a_control_token(renderer: Renderer, chat: list[ChatMessage]) -> None:
    assume(encodable(renderer, chat))
    tokens = renderer.render_prompt(chat)
    assert renderer.decode(tokens) == f"{as_text(chat)}<|im_start|>assistant\n"
    end, pad = renderer.stop_token_ids
    assert tokens.count(end) == len(chat)
    assert tokens.count(tokens[-len(renderer.render_prompt([]))]) == len(chat) + 1
    assert pad not in tokens


@given(text=st.text(st.characters(codec=None), max_size=30))
@settings(deadline=None)
def test_text_is_encodable_or_says_what_is_not(renderer: Renderer, text: str) -> None:
    lost = set(renderer.unencodable_in(text))
    kept = "".join(character for character in text if character not in lost)
    assert lost <= set(text)
    tokens = renderer.render_prompt([ChatMessage(role="user", content=kept)])
    assert renderer.decode(tokens) == f"<|im_start|>user\n{kept}<|im_end|>\n<|im_start|>assistant\n"


@given(contents=st.lists(TEXTS.map(lambda text: f"a{text}"), min_size=1, max_size=4))
@settings(deadline=None)
def test_an_ordinary_chat_has_the_tokens_of_its_text(renderer: Renderer, folder: Path, contents: list[str]) -> None:
    """Where no content begins with white space, cutting a chat into parts changes no token that the student knows."""
    messages = [
        ChatMessage(role="assistant" if place % 2 else "user", content=content)
        for place, content in enumerate(contents)
    ]
    assume(encodable(renderer, messages))
    assume(not any(renderer.control_tokens_in(content) for content in contents))
    whole = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(f"{as_text(messages)}<|im_start|>assistant\n")
    assert renderer.render_prompt(messages) == tuple(whole.ids)
