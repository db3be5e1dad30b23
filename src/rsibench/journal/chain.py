"""Checks a journal's chain: every row in turn, its form, its place, its link to the row before and its own hash.

Invariant: a changed byte in any column, and a missing, added, doubled or moved row, is found and named. Only a cut tail
cannot be seen from the rows alone; for that the caller gives the head that it knows from elsewhere. Works on rows from
a database and from an exported file alike. Not here: whether the events make sense together (`fold.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rsibench.errors import IntegrityError
from rsibench.ids import RUN_ID
from rsibench.journal.canonical import is_canonical
from rsibench.journal.envelope import Head, damaged, genesis_hash, row_hash
from rsibench.journal.events import RunSealed
from rsibench.store.rows import EventRow

SEALED_KIND = RunSealed.model_fields["kind"].default

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII).fullmatch
_KIND = re.compile(r"[a-z]+\.[a-z]+").fullmatch


class VerifiedChain(NamedTuple):
    """A journal whose chain holds."""

    run_id: str
    events: int
    head: Head
    sealed: bool


def verify_chain(
    rows: Iterable[EventRow],
    *,
    run_id: str | None = None,
    expected_head: Head | None = None,
    must_be_sealed: bool = False,
) -> VerifiedChain:
    """Reads every row and checks the whole chain.

    `run_id` is the run that the rows should be of (by default the first row's), `expected_head` a head known from
    elsewhere, without which a cut tail goes unseen. Raises IntegrityError naming run, event and what differs.
    """
    last: EventRow | None = None
    for row in checked_rows(rows, run_id=run_id):
        last = row
        if expected_head is not None and row.seq == expected_head.seq and row.hash != expected_head.hash:
            raise damaged(row, f"its hash is {row.hash}, but {expected_head.hash} was recorded elsewhere")
    if last is None:
        fix = "restore the journal from a copy"
        raise IntegrityError("the journal has no events", where=f"run {run_id or '(unknown)'}", fix=fix)
    if expected_head is not None and last.seq != expected_head.seq:
        raise damaged(last, f"the journal ends here, but {expected_head.seq} events were recorded elsewhere")
    sealed = last.kind == SEALED_KIND
    if must_be_sealed and not sealed:
        raise damaged(last, f"the journal ends here, but a finished run ends with {SEALED_KIND}")
    return VerifiedChain(last.run_id, last.seq, Head(last.seq, last.hash), sealed)


def checked_rows(rows: Iterable[EventRow], *, run_id: str | None = None) -> Iterator[EventRow]:
    """Hands on every row that follows the one before it; raises IntegrityError at the first that does not."""
    seq = elapsed_ms = 0
    previous_hash: str | None = None
    sealed = False
    for row in rows:
        if previous_hash is None:
            run_id = row.run_id if run_id is None else run_id
            _check_run_id(row, run_id)
            previous_hash = genesis_hash(run_id)
        problem = _problem(row, run_id, seq + 1, elapsed_ms, previous_hash)
        if problem is None and sealed:
            problem = f"it stands after {SEALED_KIND}, which ends a journal"
        if problem is not None:
            raise damaged(row, problem)
        seq, elapsed_ms, previous_hash, sealed = row.seq, row.elapsed_ms, row.hash, row.kind == SEALED_KIND
        yield row


def _check_run_id(row: EventRow, run_id: str) -> None:
    if not isinstance(row.run_id, str) or RUN_ID.fullmatch(run_id) is None:
        raise damaged(row, f"{row.run_id!r} is not the name of a run")


def _problem(row: EventRow, run_id: str | None, seq: int, elapsed_ms: int, previous_hash: str) -> str | None:
    """What is wrong with a row that should be number `seq` of `run_id` and follow `previous_hash`."""
    if row.run_id != run_id:
        return f"it belongs to run {row.run_id!r}, not to {run_id!r}"
    if row.seq != seq:
        return f"event {seq} should stand here: events are missing, doubled or out of order"
    if row.previous_hash != previous_hash:
        return f"its previous hash is {row.previous_hash!r}, but the event before it has {previous_hash}"
    malformed = _malformed(row)
    if malformed is not None:
        return malformed
    expected = row_hash(row)
    if row.hash != expected:
        return f"its hash is {row.hash!r}, but its content hashes to {expected}"
    if row.elapsed_ms < elapsed_ms:
        return f"its active time {row.elapsed_ms} ms is before the {elapsed_ms} ms of the event before it"
    if not is_canonical(row.body):
        return "its body is not canonical JSON"
    return None


def _malformed(row: EventRow) -> str | None:
    """A column that no journal can have written. What passes needs no escaping, so that hashes are unambiguous."""
    if not isinstance(row.elapsed_ms, int):
        return f"its active time {row.elapsed_ms!r} is no whole number"
    if not isinstance(row.at, str) or _TIME(row.at) is None:
        return f"its time {row.at!r} is malformed"
    if not isinstance(row.kind, str) or _KIND(row.kind) is None:
        return f"its kind {row.kind!r} is malformed"
    if not isinstance(row.body, bytes):
        return "its body is not stored as bytes"
    return None
