"""Identifiers and digests: SHA-256 in lowercase hex for content, readable names for runs and attempts."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime
from pathlib import Path

RUN_ID = re.compile(r"[a-z0-9][a-z0-9._-]{2,79}")
_CHUNK_BYTES = 1 << 20


def sha256_bytes(data: bytes) -> str:
    """SHA-256 of `data` in hex."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's content in hex, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(_CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def new_run_id(profile: str, researcher: str, now: datetime) -> str:
    """A run name such as `pocket-feedback-20261130-201500-3f9a`."""
    return f"{profile}-{researcher}-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def derived_seed(*parts: str | int) -> int:
    """A 63-bit seed that depends on every part and on nothing else (SHA-256 of the parts, length-prefixed)."""
    digest = hashlib.sha256()
    for part in parts:
        text = str(part).encode()
        digest.update(len(text).to_bytes(4, "big") + text)
    return int.from_bytes(digest.digest()[:8], "big") >> 1
