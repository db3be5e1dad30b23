"""The fold: the state that a run's events add up to, refusing any event that the state before it does not allow.

Invariant: pure; folding all at once or one after the other gives equal states, and every prefix of a valid journal is
valid. What passes here is a possible history of a run; that it is the true one is the chain's business (`chain.py`).
The rules themselves are in `rules_budget.py`, `rules_attempts.py`, `rules_course.py` and `rules_calls.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rsibench.errors import IntegrityError
from rsibench.journal.envelope import Entry
from rsibench.journal.events import Event, RunResumed
from rsibench.journal.rules import Impossible, Step, require
from rsibench.journal.rules_attempts import ATTEMPTS
from rsibench.journal.rules_budget import BUDGET
from rsibench.journal.rules_calls import CALLS
from rsibench.journal.rules_course import COURSE
from rsibench.journal.state import Phase, RunState

STEPS: Mapping[type[Event], Step[Any]] = MappingProxyType(
    {**BUDGET.steps(), **ATTEMPTS.steps(), **COURSE.steps(), **CALLS.steps()}
)
"""What each kind of event does to a state."""


def apply(state: RunState, entry: Entry) -> RunState:
    """The state after one more event. Raises IntegrityError when the event cannot follow."""
    try:
        _require_next(state, entry)
        after = STEPS[type(entry.event)](state, entry.event)
    except Impossible as impossible:
        where = f"run {entry.run_id}, event {entry.seq} ({entry.event.kind})"
        fix = "this cannot have happened; the journal was changed, or the program that wrote it has a fault"
        raise IntegrityError(str(impossible), where=where, fix=fix) from None
    return replace(after, seq=entry.seq, elapsed_ms=entry.elapsed_ms)


def fold(entries: Iterable[Entry], run_id: str | None = None) -> RunState:
    """The state after all `entries`, from the first. `run_id` is needed only where there may be none."""
    state: RunState | None = None if run_id is None else RunState(run_id=run_id)
    for entry in entries:
        state = apply(RunState(run_id=entry.run_id) if state is None else state, entry)
    if state is None:
        raise IntegrityError("the journal has no events", where="fold", fix="name the run, or restore its journal")
    return state


def _require_next(state: RunState, entry: Entry) -> None:
    require(entry.run_id == state.run_id, f"it belongs to run {entry.run_id}, not to {state.run_id}")
    require(entry.seq == state.seq + 1, f"event {state.seq + 1} is next")
    require(entry.elapsed_ms >= state.elapsed_ms, f"its active time is before that of event {state.seq}")
    require(state.phase is not Phase.SEALED, "the run is sealed, nothing may follow")
    waits = state.interrupted and not isinstance(entry.event, RunResumed)
    require(not waits, "the run was interrupted and not yet resumed")
