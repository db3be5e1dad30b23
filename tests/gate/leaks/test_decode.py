"""Canonical and decoded text: what is hidden is found, and the work is bounded."""

from __future__ import annotations

import base64
import gzip
import html
import urllib.parse
import zlib

import pytest

from rsibench.gate.leaks.decode import MAX_BLOBS, MAX_DECODED_BYTES, canonical, hidden_texts

SECRET = "The harbour master counts seventeen red boats before breakfast."


@pytest.mark.parametrize(
    "encoded",
    [
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
        SECRET.encode().hex(),
        base64.b64encode(gzip.compress(SECRET.encode())).decode(),
        base64.b64encode(zlib.compress(SECRET.encode())).decode(),
        base64.b64encode(base64.b64encode(SECRET.encode())).decode(),
        urllib.parse.quote(SECRET),
        "".join(f"&#{ord(character)};" for character in SECRET),
        html.escape(f"<&>{SECRET}<&>"),
        base64.encodebytes(SECRET.encode() * 3).decode(),
    ],
    ids=["base64", "urlsafe", "hex", "gzip", "zlib", "twice", "url", "entities", "escaped", "wrapped"],
)
def test_hidden_text_is_found(encoded: str) -> None:
    assert any(SECRET in text for text in hidden_texts(f"look: {encoded} and done"))


def test_letters_set_apart_are_joined() -> None:
    assert any("harbourmaster" in text for text in hidden_texts("x: h a r b o u r m a s t e r !"))


def test_invisible_and_wide_characters_do_not_matter() -> None:
    assert canonical("ｈ\u200ba\u00adr\u2060bour") == "harbour"


def test_a_bomb_is_cut() -> None:
    bomb = base64.b64encode(gzip.compress(b"a" * 200_000_000, 9)).decode()
    assert sum(map(len, hidden_texts(bomb))) <= MAX_DECODED_BYTES


def test_the_number_of_blobs_is_bounded() -> None:
    blob = base64.b64encode(SECRET.encode()).decode()
    assert len(hidden_texts(f"{blob} \n" * 500)) <= MAX_BLOBS


def test_a_long_run_of_one_letter_takes_no_quadratic_time() -> None:
    bomb = base64.b64encode(gzip.compress(b"a" * MAX_DECODED_BYTES)).decode()
    assert any(set(text) == {"a"} for text in hidden_texts(bomb))


def test_random_bytes_are_not_text() -> None:
    assert hidden_texts(base64.b64encode(bytes(range(256))).decode()) == []
