"""Canonical text, and what is hidden in a text: decoded blobs, entities and escapes.

Invariants: work and output are bounded whatever is handed in (depth, number of blobs, bytes of each); decoding never
raises. Rot13 and reversed text are not undone here: the index holds the protected texts in these forms instead.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import html
import re
import unicodedata
import urllib.parse
import zlib

MAX_DEPTH = 3
MAX_BLOBS = 64
MAX_DECODED_BYTES = 1 << 20
_LEAST_TEXT = 12
_PRINTABLE_SHARE = 0.85
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_WRAPPED = re.compile(r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{60,76}\r?\n){2,}[A-Za-z0-9+/]*={0,2}")
_LONG_WORD = re.compile(r"[A-Za-z0-9+/]{20}")
_HEX = re.compile(r"[0-9a-fA-F]+")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_ENTITY = re.compile(r"&#?\w{2,8};")
_SPACED = re.compile(r"(?:\b\w ){12,}\w\b")
_GZIP, _ZLIB = b"\x1f\x8b", b"\x78"


def canonical(text: str) -> str:
    """NFKC, case folded, without invisible characters. ASCII keeps its case: words are compared without it.

    Line feeds written as an escape, as in a tool's arguments, become spaces; in items and rows alike, so that LaTeX
    commands which begin so do not matter.
    """
    if "\\n" in text:
        text = text.replace("\\n", " ")
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()


def hidden_texts(text: str) -> list[str]:
    """Texts that `text` holds in an encoded form, canonical; at most MAX_BLOBS, at most MAX_DECODED_BYTES together."""
    found: list[str] = []
    left = MAX_DECODED_BYTES
    waiting = [(text, 0)]
    while waiting and len(found) < MAX_BLOBS and left > 0:
        current, depth = waiting.pop()
        for decoded in _decoded(current):
            piece = canonical(decoded[:left])
            if len(found) >= MAX_BLOBS or left <= 0:
                break
            left -= len(piece)
            found.append(piece)
            if depth + 1 < MAX_DEPTH:
                waiting.append((decoded[:MAX_DECODED_BYTES], depth + 1))
    return found


def _decoded(text: str) -> list[str]:
    found: list[str] = []
    if text.count("%") >= 4 and len(_PERCENT.findall(text)) >= 4:
        found.append(urllib.parse.unquote_plus(text, errors="replace"))
    if "&" in text and len(_ENTITY.findall(text)) >= 2:
        found.append(html.unescape(text))
    if _SPACED.search(text) is not None:
        found.append(_SPACED.sub(lambda match: match.group().replace(" ", ""), text))
    if _LONG_WORD.search(text) is None:
        return found
    wrapped = ["".join(match.group().split()) for match in _WRAPPED.finditer(text)]
    blobs = [*wrapped, *(match.group() for match in _BLOB.finditer(text))]
    for blob in blobs[:MAX_BLOBS]:
        plain = _plain(blob)
        if plain is not None:
            found.append(plain)
    return found


def _plain(blob: str) -> str | None:
    """The text in a hexadecimal or base64 blob, unpacked when it is compressed; None when it holds no text."""
    for data in _bytes_of(blob):
        raw = _unpacked(data)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            continue
        good = sum(character.isprintable() or character in "\n\t" for character in text[:400])
        if len(text) >= _LEAST_TEXT and good >= _PRINTABLE_SHARE * len(text[:400]):
            return text
    return None


def _bytes_of(blob: str) -> list[bytes]:
    found = []
    if _HEX.fullmatch(blob) and len(blob) % 2 == 0:
        found.append(bytes.fromhex(blob))
    body = blob.rstrip("=").replace("-", "+").replace("_", "/")
    with contextlib.suppress(binascii.Error, ValueError):
        found.append(base64.b64decode(body + "=" * (-len(body) % 4), validate=True))
    return found


def _unpacked(data: bytes) -> bytes:
    """Bytes after gzip or zlib, cut at MAX_DECODED_BYTES; the bytes themselves when they are not compressed."""
    if not data.startswith((_GZIP, _ZLIB)):
        return data
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, MAX_DECODED_BYTES)
    except zlib.error:
        return data
