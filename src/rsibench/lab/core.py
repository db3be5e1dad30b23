"""What every use case of the lab shares: the run's journal, ledger, blobs and terms, and how its state is changed.

Invariants: the journal's state is the only truth, and nothing that matters is kept in memory alone. A change is one
store transaction; who waits for a change is woken after it is on disk. Locks are taken in one order only: the store's,
then the condition's, which is never held while the store is written. A caller holds no store transaction of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from rsibench.errors import IntegrityError, LabError
from rsibench.journal.events import ResearchStarted, TrainingFinished
from rsibench.journal.journal import Journal
from rsibench.journal.state import AttemptState, Phase, RunState
from rsibench.lab.replies import Left
from rsibench.lab.terms import LabTerms
from rsibench.ledger.ledger import Ledger
from rsibench.ports.clock import Clock
from rsibench.store.blobs import Blobs
from rsibench.store.store import Store
from rsibench.units import MILLISECONDS_PER_SECOND, Account, to_whole

_RECHECK_SECONDS = 1.0


class Used(NamedTuple):
    """Tokens that an attempt has really used."""

    train_tokens: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0


@dataclass(slots=True)
class Core:
    """Shared by the parts of one Session."""

    terms: LabTerms
    store: Store
    journal: Journal
    ledger: Ledger
    blobs: Blobs
    clock: Clock
    condition: threading.Condition = field(default_factory=threading.Condition)
    closed: bool = False
    """Submissions are no longer taken; what was admitted goes on."""
    stopped: bool = False
    """The controller is going down: nobody waits any longer."""
    claimed: dict[int, int] = field(default_factory=dict)
    """Attempts this process works on, with the run's active milliseconds when it took them; guarded by `condition`."""
    used: dict[int, Used] = field(default_factory=dict)
    """What a running attempt has used so far; guarded by `condition`."""
    _started_ms: int | None = None

    @contextmanager
    def change(self) -> Iterator[RunState]:
        """One change of the run's state: all or nothing, and everybody who waits looks again afterwards."""
        with self.store.transaction(self.journal.run_id):
            yield self.journal.state()
        self.wake()

    def wake(self) -> None:
        """Everybody who waits looks again."""
        with self.condition:
            self.condition.notify_all()

    def wait_until(self, holds: Callable[[], bool], timeout_seconds: float) -> bool:
        """Blocks until `holds()`, the time is up or the controller stops. Returns what `holds()` was last."""
        deadline = self.clock.monotonic() + timeout_seconds
        with self.condition:
            while not (held := holds()) and not self.stopped:
                left_seconds = deadline - self.clock.monotonic()
                if left_seconds <= 0:
                    break
                self.condition.wait(min(left_seconds, _RECHECK_SECONDS))
        return held

    def seconds_left(self, state: RunState) -> float:
        """Seconds of research left; the whole budget before research started, never negative."""
        limit_ms = self.terms.budget.wall_seconds * MILLISECONDS_PER_SECOND
        started_ms = self.started_ms() if state.phase not in (Phase.EMPTY, Phase.PREPARING) else None
        used_ms = 0 if started_ms is None else self.journal.elapsed_ms() - started_ms
        return max(0, limit_ms - used_ms) / MILLISECONDS_PER_SECOND

    def started_ms(self) -> int | None:
        """The run's active time when research started, None before."""
        if self._started_ms is None:
            entry = next((entry for entry in self.journal.entries() if isinstance(entry.event, ResearchStarted)), None)
            self._started_ms = None if entry is None else entry.elapsed_ms
        return self._started_ms

    def left(self, state: RunState | None = None) -> Left:
        """What is left of the budget now."""
        state = self.journal.state() if state is None else state
        seconds = self.seconds_left(state) if state.phase in (Phase.PREPARING, Phase.RESEARCHING) else 0.0

        def usd(account: Account) -> float:
            balance = state.balances.get(account)
            return 0.0 if balance is None else to_whole(account, balance.available)

        attempts = state.balances.get(Account.ATTEMPTS)
        return Left(
            seconds=seconds,
            submit_seconds=max(0.0, seconds - self.terms.budget.final_window_seconds),
            attempts=0 if attempts is None else attempts.available,
            training_usd=usd(Account.TRAINING),
            sampling_usd=usd(Account.SAMPLING),
            researcher_usd=usd(Account.RESEARCHER),
            rollout_usd=usd(Account.ROLLOUT),
        )

    def attempt(self, state: RunState, number: int) -> AttemptState:
        """An attempt. Raises LabError when there is none of that number."""
        found = state.attempts.get(number)
        if found is None:
            known = ", ".join(str(known) for known in state.attempts) or "none yet"
            raise LabError(
                f"there is no attempt {number}",
                code="no-such-attempt",
                status=404,
                fix=f"attempts of this run: {known}",
            )
        return found

    def training_of(self, number: int) -> TrainingFinished | None:
        """The event of an attempt's finished training, None while it has none."""
        for entry in self.journal.entries():
            if isinstance(entry.event, TrainingFinished) and entry.event.attempt == number:
                return entry.event
        return None


def require_researching(state: RunState) -> None:
    """Raises LabError unless the researcher may act."""
    if state.phase is Phase.RESEARCHING:
        return
    if state.phase in (Phase.EMPTY, Phase.PREPARING):
        raise LabError(
            "the run is still being prepared", code="not-open", fix="try again when the phase is researching"
        )
    raise LabError(
        "the selection is committed: nothing can be submitted or selected any more",
        code="closed",
        fix="the official evaluation follows; there is nothing left to do",
    )


def program_fault(what: str, where: str) -> IntegrityError:
    """An impossible request of the controller's own code."""
    return IntegrityError(what, where=where, fix="this is a fault of the program; keep the run's folder and report it")
