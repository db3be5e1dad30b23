"""The tokenizer inside a GGUF file as a tokenizer.json.

Invariant: text is split as it was when the model was trained. GGUF names that only by a keyword, and generic converters
ignore it: for `smollm` they forget that digits stand alone, which moves white space before a digit into other tokens.
A keyword that is not known is refused, because a wrong split costs accuracy without any error.
The JSON is written out here, so that its digest does not depend on the version of a tokenizer library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsibench.errors import SpecError
from rsibench.student.gguf_fields import integers, text, words

if TYPE_CHECKING:
    from gguf import GGUFReader
    from pydantic import JsonValue

_CONTROL = 3
"""GGUF's token type of a control token."""
_BYTE_LEVEL: dict[str, JsonValue] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}


def byte_level_tokenizer(reader: GGUFReader) -> dict[str, JsonValue]:
    """tokenizer.json of a GGUF with a `gpt2` vocabulary split as `smollm`. Raises SpecError for any other kind."""
    kind, split = text(reader, "tokenizer.ggml.model"), text(reader, "tokenizer.ggml.pre")
    if (kind, split) != ("gpt2", "smollm"):
        raise SpecError(
            f"the GGUF's tokenizer is {kind!r} split as {split!r}; only 'gpt2' split as 'smollm' can be converted here",
            fix="use the model as a folder with a tokenizer.json of its own",
        )
    vocabulary = words(reader, "tokenizer.ggml.tokens")
    types = integers(reader, "tokenizer.ggml.token_type")
    control: list[JsonValue] = [
        _control_token(index, word)
        for index, (word, token_type) in enumerate(zip(vocabulary, types, strict=True))
        if token_type == _CONTROL
    ]
    digits: JsonValue = {"type": "Digits", "individual_digits": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": control,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, _BYTE_LEVEL]},
        "post_processor": None,
        "decoder": _BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {word: index for index, word in enumerate(vocabulary)},
            "merges": [[*pair.split(" ")] for pair in words(reader, "tokenizer.ggml.merges")],
        },
    }


def _control_token(index: int, word: str) -> JsonValue:
    return {
        "id": index,
        "content": word,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
