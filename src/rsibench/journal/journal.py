"""Journal: one run's events in a store, appended and read in order.

Invariant: an event that the run's state does not allow is refused before it is written, so that what is recorded can
always be folded. Nothing is ever changed or removed. Not here: the rules (`fold.py`), hashes (`envelope.py`) and
checks of a whole chain (`chain.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rsibench.journal.envelope import Entry, Head, decode, genesis_hash, seal
from rsibench.journal.events import AnyEvent
from rsibench.journal.fold import apply
from rsibench.journal.state import RunState
from rsibench.journal.timekeeper import JournalClock, Timekeeper
from rsibench.store.events import event_rows, hash_at, insert_event, last_event
from rsibench.store.leases import Fence
from rsibench.store.rows import EventRow, RowHead
from rsibench.store.runs import get_run
from rsibench.store.store import Store

_REMEMBERED = 32


class _Folded(NamedTuple):
    """A state and the hash of the last event that went into it."""

    state: RunState
    hash: str


class Journal:
    """The journal of a run that the store knows. Safe to share between threads.

    A journal made for a run with events continues the run's active time where its last event left it. With
    a `fence` every event is written only while that allows it, which shuts out a controller that lost its lease.
    """

    def __init__(self, store: Store, run_id: str, clock: JournalClock, fence: Fence | None = None) -> None:
        self._store = store
        self.run_id = run_id
        self._fence = fence
        with store.reading() as connection:
            get_run(connection, run_id)
            last = last_event(connection, run_id)
        self._time = Timekeeper(clock, 0 if last is None else last.elapsed_ms)
        self._nothing = RowHead(0, 0, genesis_hash(run_id))
        self._empty = _Folded(RunState(run_id=run_id), self._nothing.hash)
        self._recent: tuple[_Folded, ...] = ()

    def append(self, event: AnyEvent) -> Entry:
        """Records `event` as the run's next one, in the caller's transaction if there is one.

        Durable when the outermost transaction has ended. Raises IntegrityError, with nothing written, when the run's
        state does not allow the event, and whatever the fence raises.
        """
        with self._store.transaction(self.run_id) as connection:
            if self._fence is not None:
                self._fence(connection)
            last = last_event(connection, self.run_id) or self._nothing
            elapsed_ms = max(self._time.elapsed_ms(), last.elapsed_ms)
            row, entry = seal(self.run_id, Head(last.seq, last.hash), self._time.now(), elapsed_ms, event)
            state = apply(self._state_at(last), entry)
            insert_event(connection, row)
            self._remember(_Folded(state, entry.hash))
            return entry

    def state(self) -> RunState:
        """The fold of all events so far; cheap when few were added since the last call."""
        with self._store.reading() as connection:
            return self._state_at(last_event(connection, self.run_id) or self._nothing)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Events after number `after`, in order. IntegrityError at one that cannot be read; hashes are not checked."""
        return (decode(row) for row in self.rows(after))

    def rows(self, after: int = 0) -> Iterator[EventRow]:
        """The same as stored, for `verify_chain` and for export."""
        return event_rows(self._store, self.run_id, after)

    def head(self) -> Head:
        """Number and hash of the last event; number 0 before the first."""
        with self._store.reading() as connection:
            last = last_event(connection, self.run_id)
        return Head(0, self._nothing.hash) if last is None else Head(last.seq, last.hash)

    def elapsed_ms(self) -> int:
        """The run's active time in milliseconds, for deadlines."""
        return self._time.elapsed_ms()

    def _state_at(self, last: RowHead) -> RunState:
        """The fold up to `last`, continued from the latest state known before it that was not rolled back."""
        recent = self._recent
        for folded in reversed(recent):
            if folded.hash == last.hash:
                return folded.state
        earlier = (known for known in reversed(recent) if known.state.seq < last.seq and self._stands(known))
        folded = next(earlier, self._empty)
        for entry in self.entries(after=folded.state.seq):
            if entry.seq > last.seq:
                break
            folded = _Folded(apply(folded.state, entry), entry.hash)
        self._remember(folded)
        return folded.state

    def _remember(self, folded: _Folded) -> None:
        """Keeps the latest few states: another thread may ask for the one before an append that is not committed.

        Threads may drop each other's; a state that is gone is folded again.
        """
        self._recent = (*self._recent[1 - _REMEMBERED :], folded)

    def _stands(self, folded: _Folded) -> bool:
        with self._store.reading() as connection:
            return hash_at(connection, self.run_id, folded.state.seq) == folded.hash
