"""What two runs of one lock and seed have in common: their journals without times, hashes and facts of a machine."""

from __future__ import annotations

from collections.abc import Iterable

from rsibench.journal.envelope import Entry
from rsibench.spec.frozen import canonical_json

NOT_COMPARED = frozenset({"measured", "wall_units", "lock_blob", "result_blob"})
"""Lock and result name the run they belong to; what else is in the result follows from the other events."""


def comparable(entries: Iterable[Entry]) -> tuple[str, ...]:
    """One line of canonical JSON an event, without its envelope and the fields that are not compared."""
    return tuple(
        canonical_json(entry.event.model_dump(mode="json", exclude=set(NOT_COMPARED))).decode() for entry in entries
    )
