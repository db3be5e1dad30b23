"""A tiny byte-level tokenizer with the student's control tokens: every valid text is encodable, nothing is downloaded.

The vocabulary is the control tokens, all 256 bytes and a few merges, some of which (a doubled line end, a word after a
space) span the places where a careless renderer would glue header and content together.
"""

from __future__ import annotations

from pathlib import Path

CONTROL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<filename>")
_MERGES = (
    ("Ċ", "Ċ"),
    ("Ġ", "Ġ"),
    ("t", "h"),
    ("th", "e"),
    ("Ġ", "the"),
    ("i", "n"),
    ("u", "s"),
    ("e", "r"),
    ("us", "er"),
    ("er", "Ċ"),
    ("<", "|"),
    ("|", ">"),
)


def tiny_tokenizer(folder: Path) -> Path:
    """Writes tokenizer.json into `folder` (created if missing) and returns the folder."""
    # Loaded here because fakes are imported by tests that need no tokenizer.
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # noqa: PLC0415 - see above

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = [*CONTROL_TOKENS, *letters, *(left + right for left, right in _MERGES)]
    model = models.BPE(vocab={word: index for index, word in enumerate(words)}, merges=list(_MERGES))
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in CONTROL_TOKENS])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
