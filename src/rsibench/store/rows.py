"""Event rows as plain tuples, so that a journal can be read and checked without a database library."""

from __future__ import annotations

from typing import NamedTuple


class EventRow(NamedTuple):
    """One stored event. `at` is UTC in ISO 8601 with six decimals and `Z`; `body` is canonical JSON; hashes are hex."""

    run_id: str
    seq: int
    at: str
    elapsed_ms: int
    kind: str
    body: bytes
    previous_hash: str
    hash: str


class RowHead(NamedTuple):
    """What the next row must follow: the last one's number, active milliseconds and hash."""

    seq: int
    elapsed_ms: int
    hash: str
