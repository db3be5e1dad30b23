"""Vectorised words: the same words as a plain scan finds, equal hashes for equal words."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rsibench.gate.leaks.words import WordHasher, grams

HASHER = WordHasher(7)
TEXTS = st.lists(st.text(st.characters(codec="ascii"), max_size=60), max_size=6)


@given(TEXTS)
def test_words_are_those_of_a_plain_scan(texts: list[str]) -> None:
    block = HASHER.block(texts)
    expected = [(place, word) for place, text in enumerate(texts) for word in re.findall("[a-z0-9]+", text.lower())]
    found = list(zip(block.segment.tolist(), block.words(0, len(block.starts)), strict=True))
    assert found == expected


@given(TEXTS)
def test_hashes_are_equal_exactly_for_equal_words(texts: list[str]) -> None:
    block = HASHER.block(texts)
    words = block.words(0, len(block.starts))
    by_word: dict[str, set[int]] = {}
    for word, value in zip(words, block.exact.tolist(), strict=True):
        by_word.setdefault(word, set()).add(value)
    assert all(len(values) == 1 for values in by_word.values())
    assert len({value for values in by_word.values() for value in values}) == len(by_word)


def test_numbers_are_one_word_to_the_loose_hash_only() -> None:
    block = HASHER.block(["12 apples", "99 apples"])
    assert block.loose[0] == block.loose[2]
    assert block.exact[0] != block.exact[2]


def test_another_key_gives_other_hashes() -> None:
    assert HASHER.block(["apple"]).exact[0] != WordHasher(8).block(["apple"]).exact[0]


def test_short_texts_have_no_grams() -> None:
    assert len(grams(HASHER.block(["only four words here"]).exact)) == 0
