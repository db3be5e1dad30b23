r"""ChatML for SmolLM2 and other byte-level students with the same control tokens.

A turn is `<|im_start|>ROLE\nBODY<|im_end|>\n`; generation starts after `<|im_start|>assistant\n`. Nothing is added that
the chat does not say: no default system prompt, no date, no whitespace. The body is the content, and

    of an assistant turn that calls tools, the content (then `\n` if it is not empty) and one block for each call,
    joined by `\n`:  <tool_call>\n{"name": "NAME", "arguments": ARGUMENTS AS WRITTEN}\n</tool_call>
    of a tool turn:  <tool_response>\nCONTENT\n</tool_response>

Ids of calls are not rendered; results are read in the order of the calls.

Invariants: control tokens are put in by id and text is encoded with their parsing off, so text that spells one stays
text; header, body and line end are encoded apart from each other, so a row's prefix is the prompt, token for token.
It is not the student's own template, which adds a system prompt and cannot tell which tokens to train on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, get_args

from rsibench.errors import SpecError
from rsibench.rendering.message import ChatMessage, Role, ToolCall
from rsibench.rendering.renderer import RenderedRow

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TURN_START = "<|im_start|>"
TURN_END = "<|im_end|>"
TEXT_END = "<|endoftext|>"
_CONTROL = (TURN_START, TURN_END, TEXT_END)
_ANY_CONTROL = re.compile("|".join(re.escape(token) for token in _CONTROL))
_SURROGATES = re.compile("[\ud800-\udfff]")
_LINE_END = "\n"
_ROLES: tuple[Role, ...] = get_args(Role)


class ChatMLRenderer:
    """Renders chats on one tokenizer. SpecError when the tokenizer lacks a control token or is not byte-level."""

    name: ClassVar[str] = "chatml"
    version: ClassVar[str] = "chatml-1"

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._start, self._end, self._pad = _control_ids(tokenizer)
        self._encodable = _encodable_bytes(tokenizer)
        # The renderer owns its tokenizer; these settings hold for every call.
        tokenizer.encode_special_tokens = True
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._headers = {role: (self._start, *self._encode(f"{role}{_LINE_END}")) for role in _ROLES}
        self._line_end = self._encode(_LINE_END)

    @property
    def stop_token_ids(self) -> tuple[int, ...]:
        """`<|im_end|>`, and `<|endoftext|>` for a student that falls out of the chat."""
        return (self._end, self._pad)

    @property
    def pad_token_id(self) -> int:
        """`<|endoftext|>`. The file's own pad token may be the turn's end, which would drop that from the loss."""
        return self._pad

    def render_prompt(self, messages: Sequence[ChatMessage]) -> tuple[int, ...]:
        """All turns, then `<|im_start|>assistant` and a line end."""
        ids: list[int] = []
        for message in messages:
            ids += self._headers[message.role]
            ids += self._encode(_body(message))
            ids.append(self._end)
            ids += self._line_end
        ids += self._headers["assistant"]
        return tuple(ids)

    def render_row(self, messages: Sequence[ChatMessage], last_only: bool) -> RenderedRow:
        """All turns; the mask covers bodies of assistant turns and their `<|im_end|>`, not the line end after it."""
        turns = [index for index, message in enumerate(messages) if message.role == "assistant"]
        if not turns:
            raise SpecError("a training row has no assistant turn, so nothing in it can be learned", fix="add one")
        learned = set(turns[-1:] if last_only else turns)
        ids: list[int] = []
        mask: list[bool] = []
        for index, message in enumerate(messages):
            header = self._headers[message.role]
            body = self._encode(_body(message))
            ids += [*header, *body, self._end, *self._line_end]
            mask += [False] * len(header) + [index in learned] * (len(body) + 1) + [False] * len(self._line_end)
        return RenderedRow(tuple(ids), tuple(mask))

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`, control tokens spelled out."""
        return self._tokenizer.decode(list(tokens), skip_special_tokens=False)

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` inside a message."""
        return len(self._encode(text))

    def control_tokens_in(self, text: str) -> tuple[str, ...]:
        """Which of `<|im_start|>`, `<|im_end|>` and `<|endoftext|>` the text spells.

        They would be encoded as harmless text here, but other software that reads the same rows would obey them. Other
        special words of a vocabulary, such as `<filename>`, are ordinary text and steer nothing in this template.
        """
        return tuple(dict.fromkeys(_ANY_CONTROL.findall(text)))

    def unencodable_in(self, text: str) -> tuple[str, ...]:
        """Characters with a byte that the vocabulary lacks (the tokenizer would drop it in silence) and surrogates."""
        if not _SURROGATES.search(text) and not text.encode().translate(None, self._encodable):
            return ()
        return tuple(dict.fromkeys(character for character in text if self._is_unencodable(character)))

    def _is_unencodable(self, character: str) -> bool:
        lone_surrogate = _SURROGATES.match(character) is not None
        return lone_surrogate or bool(character.encode().translate(None, self._encodable))

    def _encode(self, text: str) -> list[int]:
        if lost := self.unencodable_in(text):
            shown = ", ".join(f"U+{ord(character):04X}" for character in lost[:5])
            raise SpecError(
                f"the student's vocabulary has no tokens for {len(lost)} character(s) of a text: {shown}",
                fix="remove them; they cannot be learned or read",
            )
        return self._tokenizer.encode(text, add_special_tokens=False).ids


def _body(message: ChatMessage) -> str:
    if message.role == "tool":
        return f"<tool_response>\n{message.content}\n</tool_response>"
    if not message.tool_calls:
        return message.content
    calls = "\n".join(_call_block(call) for call in message.tool_calls)
    return f"{message.content}\n{calls}" if message.content else calls


def _call_block(call: ToolCall) -> str:
    name = json.dumps(call.function.name, ensure_ascii=False)
    return f'<tool_call>\n{{"name": {name}, "arguments": {call.function.arguments}}}\n</tool_call>'


def _control_ids(tokenizer: Tokenizer) -> tuple[int, int, int]:
    start, end, text_end = (tokenizer.token_to_id(token) for token in _CONTROL)
    if start is None or end is None or text_end is None:
        missing = [token for token in _CONTROL if tokenizer.token_to_id(token) is None]
        raise SpecError(
            f"the renderer {ChatMLRenderer.name} needs {', '.join(_CONTROL)} in the vocabulary; "
            f"missing: {', '.join(missing)}",
            fix="use a student that was made for ChatML, or name another renderer",
        )
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values() if token.special}
    if plain := [token for token in _CONTROL if token not in special]:
        raise SpecError(
            f"the tokenizer treats {', '.join(plain)} as ordinary text, so text could turn into control tokens",
            fix='mark them with "special": true under added_tokens',
        )
    return start, end, text_end


def _encodable_bytes(tokenizer: Tokenizer) -> bytes:
    """Every byte that the vocabulary has a token for. Raises SpecError when the tokenizer is not a byte-level one."""
    from tokenizers.decoders import ByteLevel  # noqa: PLC0415 - native code, loaded with the first tokenizer

    if not isinstance(tokenizer.decoder, ByteLevel):
        raise SpecError(
            f"the renderer {ChatMLRenderer.name} needs a byte-level tokenizer: only there is text its tokens and back",
            fix="use a student with a byte-level BPE vocabulary, or name another renderer",
        )
    return bytes(byte for byte, letter in _byte_letters() if tokenizer.token_to_id(letter) is not None)


def _byte_letters() -> Iterable[tuple[int, str]]:
    """The letter of each byte in byte-level vocabularies (GPT-2's table: printable Latin-1 stands for itself)."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (byte for byte in range(256) if byte not in printable)
    yield from ((byte, chr(byte)) for byte in sorted(printable))
    yield from ((byte, chr(0x100 + place)) for place, byte in enumerate(others))
