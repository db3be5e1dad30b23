"""The tokenizer inside a GGUF file as a tokenizer.json.

Invariant: text is split as it was when the model was trained. GGUF names that only by a keyword, and generic converters
ignore it: for `smollm` they forget that digits stand alone, which moves white space before a digit into other tokens.
A keyword that is not known is refused, because a wrong split costs accuracy without any error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsibench.errors import SpecError
from rsibench.student.gguf_fields import integers, text, words

if TYPE_CHECKING:
    from gguf import GGUFReader
    from tokenizers import Tokenizer

_CONTROL = 3
"""GGUF's token type of a control token."""


def byte_level_tokenizer(reader: GGUFReader) -> Tokenizer:
    """The tokenizer of a GGUF with a `gpt2` vocabulary split as `smollm`. Raises SpecError for any other kind."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # noqa: PLC0415 - native code

    kind, split = text(reader, "tokenizer.ggml.model"), text(reader, "tokenizer.ggml.pre")
    if (kind, split) != ("gpt2", "smollm"):
        raise SpecError(
            f"the GGUF's tokenizer is {kind!r} split as {split!r}; only 'gpt2' split as 'smollm' can be converted here",
            fix="use the model as a folder with a tokenizer.json of its own",
        )
    vocabulary = words(reader, "tokenizer.ggml.tokens")
    types = integers(reader, "tokenizer.ggml.token_type")
    merges = [(left, right) for left, _, right in (pair.partition(" ") for pair in words(reader, "tokenizer.ggml.merges"))]
    tokenizer = Tokenizer(models.BPE(vocab={word: index for index, word in enumerate(vocabulary)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = [word for word, token_type in zip(vocabulary, types, strict=True) if token_type == _CONTROL]
    tokenizer.add_special_tokens([AddedToken(word, special=True, normalized=False) for word in control])
    return tokenizer
