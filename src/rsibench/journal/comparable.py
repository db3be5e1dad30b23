"""What two runs of one lock and seed have in common: their journals without times, hashes and facts of a machine."""

from __future__ import annotations

from collections.abc import Iterable

from rsibench.journal.envelope import Entry
from rsibench.spec.frozen import canonical_json

NOT_COMPARED = frozenset({"measured", "wall_units", "lock_blob"})


def comparable(entries: Iterable[Entry]) -> tuple[str, ...]:
    """One line of canonical JSON an event, without envelope, `measured`, `wall_units` and `lock_blob`."""
    return tuple(
        canonical_json(entry.event.model_dump(mode="json", exclude=set(NOT_COMPARED))).decode() for entry in entries
    )
