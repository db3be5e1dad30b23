"""Renderer: what turns chats into tokens for one kind of student, for training rows and evaluation prompts alike.

Invariant: for every assistant turn of a row, the row's tokens before that turn's first masked token are
`render_prompt(messages before the turn)`. It is not a sampler: it stops and pads nothing, it only names the ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rsibench.rendering.message import ChatMessage


class RenderedRow(NamedTuple):
    """One training row: token ids, and for each whether its prediction counts in the loss; of equal length."""

    token_ids: tuple[int, ...]
    loss_mask: tuple[bool, ...]


class Renderer(Protocol):
    """One chat template on one tokenizer. `version` changes whenever any chat would render to other tokens."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def stop_token_ids(self) -> tuple[int, ...]:
        """Ids that end a completion; the first is the one that training teaches."""
        ...

    @property
    def pad_token_id(self) -> int:
        """Id to pad batches with; never the id that ends a turn."""
        ...

    def render_prompt(self, messages: Sequence[ChatMessage]) -> tuple[int, ...]:
        """The tokens that the next assistant turn is generated from. Raises SpecError for text it cannot encode."""
        ...

    def render_row(self, messages: Sequence[ChatMessage], last_only: bool) -> RenderedRow:
        """A training row whose mask covers every assistant turn, or the last one only.

        The mask covers a turn's body and the token that ends it, and is never empty. Raises SpecError when there is no
        assistant turn or a text cannot be encoded.
        """
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`; control tokens are spelled out. Bytes that are not UTF-8 become U+FFFD."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens `text` is inside a message. Raises SpecError for text that cannot be encoded."""
        ...

    def control_tokens_in(self, text: str) -> tuple[str, ...]:
        """The template's control tokens that `text` spells, each once, in order of appearance."""
        ...

    def unencodable_in(self, text: str) -> tuple[str, ...]:
        """The characters of `text` for which the tokenizer has no tokens, each once, in order of appearance."""
        ...
