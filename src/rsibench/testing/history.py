"""History: a journal in memory, for tests of what folds without a store behind it."""

from __future__ import annotations

from collections.abc import Iterable

from rsibench.journal.envelope import Entry, Head, genesis_hash, seal
from rsibench.journal.events import AnyEvent
from rsibench.journal.fold import apply
from rsibench.journal.state import RunState
from rsibench.store.rows import EventRow
from rsibench.testing.clock import FakeClock


class History:
    """Events in their envelopes, one second apart, and the state that they fold to."""

    def __init__(self, events: Iterable[AnyEvent] = (), run_id: str = "pocket-history-1") -> None:
        self.clock = FakeClock()
        self.rows: list[EventRow] = []
        self.entries: list[Entry] = []
        self.state = RunState(run_id=run_id)
        for event in events:
            self.append(event)

    def append(self, event: AnyEvent) -> Entry:
        """Adds an event. Raises IntegrityError, with nothing added, when the state does not allow it."""
        self.clock.advance(1)
        last = self.entries[-1] if self.entries else None
        head = Head(0, genesis_hash(self.state.run_id)) if last is None else Head(last.seq, last.hash)
        elapsed_ms = int(self.clock.monotonic() * 1_000)
        row, entry = seal(self.state.run_id, head, self.clock.now(), elapsed_ms, event)
        self.state = apply(self.state, entry)
        self.rows.append(row)
        self.entries.append(entry)
        return entry
