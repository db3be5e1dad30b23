"""The envelope of an event: its place in the run, its time, and the hash that binds it to the one before.

    hash = SHA-256 of the canonical JSON array [previous_hash, run_id, seq, at, elapsed_ms, kind, body]

Invariant: the hash is taken over the stored bytes of the body, never over a re-serialised model, so that a reader in
any language can check a journal without knowing its events. The first event's previous hash depends on the run's name.
Not here: checking a chain (`chain.py`) and reading or writing one (`journal.py`).
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import NamedTuple

from pydantic import ValidationError

from rsibench.errors import IntegrityError
from rsibench.ids import sha256_bytes
from rsibench.journal.events import EVENT, AnyEvent
from rsibench.spec.frozen import canonical_json
from rsibench.store.rows import EventRow


class Head(NamedTuple):
    """The end of a journal: whoever knows it can tell when events are missing. `seq` 0 is a journal with no events."""

    seq: int
    hash: str


class Entry(NamedTuple):
    """One event in its envelope. `at` is aware UTC; `elapsed_ms` is the run's active time, see `timekeeper.py`."""

    run_id: str
    seq: int
    at: datetime
    elapsed_ms: int
    event: AnyEvent
    previous_hash: str
    hash: str


def genesis_hash(run_id: str) -> str:
    """What stands for a previous hash in a run's first event."""
    return sha256_bytes(canonical_json(["rsibench.journal", 1, run_id]))


def time_text(at: datetime) -> str:
    """The one way in which a moment is written: UTC, six decimals, `Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def row_hash(row: EventRow) -> str:
    """The hash that a row should carry. Only for rows whose text needs no escaping in JSON, which `chain.py` checks."""
    head = f'["{row.previous_hash}","{row.run_id}",{row.seq},"{row.at}",{row.elapsed_ms},"{row.kind}",'
    return hashlib.sha256(b"%b%b]" % (head.encode(), row.body)).hexdigest()


def seal(run_id: str, head: Head, at: datetime, elapsed_ms: int, event: AnyEvent) -> tuple[EventRow, Entry]:
    """The row and the entry of an event that follows `head`."""
    row = EventRow(run_id, head.seq + 1, time_text(at), elapsed_ms, event.kind, event.canonical(), head.hash, "")
    row = row._replace(hash=row_hash(row))
    return row, Entry(run_id, row.seq, at.astimezone(UTC), elapsed_ms, event, row.previous_hash, row.hash)


def decode(row: EventRow) -> Entry:
    """The entry of a stored row, without checking its hash. Raises IntegrityError when its body is no known event."""
    try:
        event = EVENT.validate_json(row.body)
        at = datetime.fromisoformat(row.at)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise damaged(row, f"its body is no event of this program: {key}: {first['msg']}") from error
    except (TypeError, ValueError) as error:
        raise damaged(row, f"its time {row.at!r} is no time") from error
    if event.kind != row.kind:
        raise damaged(row, f"its body is of kind {event.kind}")
    return Entry(row.run_id, row.seq, at, row.elapsed_ms, event, row.previous_hash, row.hash)


def damaged(row: EventRow, what: str) -> IntegrityError:
    """The error for a row that cannot be right, saying which row it is."""
    where = f"run {row.run_id}, event {row.seq} ({row.kind})"
    return IntegrityError(what, where=where, fix="the journal was changed or damaged; compare it with a copy")
