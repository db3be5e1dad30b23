"""The base of every spec and record: immutable, unknown keys refused, and one canonical byte form with a digest."""

from __future__ import annotations

from typing import Any

import rfc8785
from pydantic import BaseModel, ConfigDict

from rsibench.ids import sha256_bytes


class Frozen(BaseModel):
    """An immutable model; an unknown key is an error and NaN or infinity is never a value."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)

    def canonical(self) -> bytes:
        """RFC 8785 canonical JSON of the model: the bytes that digests and hash chains are made of."""
        return canonical_json(self.model_dump(mode="json"))

    def digest(self) -> str:
        """SHA-256 in hex of the canonical form."""
        return sha256_bytes(self.canonical())


def canonical_json(value: Any) -> bytes:
    """RFC 8785 (JSON Canonicalization Scheme) bytes of a JSON value."""
    return rfc8785.dumps(value)
