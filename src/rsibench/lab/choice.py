"""The choice of a checkpoint: proposed as often as the researcher likes, committed once.

Invariants: only a scored attempt, or the base student, can be chosen; after the commitment nothing can be submitted or
chosen; without an explicit choice the rule that was declared beforehand decides: the best selection score, the earliest
of equals, and the base student when no attempt was scored.
"""

from __future__ import annotations

from rsibench.errors import LabError
from rsibench.journal import events
from rsibench.journal.state import Decision, Phase, RunState, Selection, Stage
from rsibench.lab.attempts import end
from rsibench.lab.core import Core, Used, program_fault, require_researching
from rsibench.lab.intake import refuse
from rsibench.lab.refusal import Refusal
from rsibench.lab.replies import SelectReply
from rsibench.lab.views import selection_view
from rsibench.outcomes import AttemptOutcome
from rsibench.store.holding import Holding
from rsibench.units import MILLISECONDS_PER_SECOND, Account

WALL_KEY = "run/wall"
"""The reservation that holds a run's research time."""


class Choice:
    """The selection of one Session. Safe to share between threads."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def select(self, attempt: int | None, *, final: bool) -> SelectReply:
        """See Session.select."""
        with self._core.change() as state:
            if not (final and _is_committed_to(state, attempt)):
                require_researching(state)
                self._require_scored(state, attempt)
                if state.proposed is None or state.proposed.attempt != attempt:
                    self._core.journal.append(events.SelectionProposed(attempt=attempt))
                if final:
                    self._close(self._core.journal.state(), "researcher")
        state = self._core.journal.state()
        return SelectReply(left=self._core.left(state), selection=selection_view(state))

    def commit(self, reason: str) -> Selection:
        """See Session.commit."""
        with self._core.change() as state:
            if state.committed is None:
                self._close(state, reason)
        committed = self._core.journal.state().committed
        if committed is None:
            raise program_fault("the selection was not committed", "lab")
        return committed

    def _require_scored(self, state: RunState, attempt: int | None) -> None:
        if attempt is None:
            return
        stage = self._core.attempt(state, attempt).stage
        if stage is not Stage.SCORED:
            why = f"attempt {attempt} is {stage}; only a scored attempt can be selected"
            raise LabError(why, code="not-scored", fix="wait for it, or select another attempt or none")

    def _close(self, state: RunState, reason: str) -> None:
        """Ends what is unfinished and commits, in the caller's change."""
        if state.phase is not Phase.RESEARCHING:
            raise program_fault(f"the run is {state.phase} and cannot be committed", "lab")
        with self._core.condition:
            used = dict(self._core.used)
        for attempt in state.attempts.values():
            if not attempt.stage.final:
                spent = used.get(attempt.number, Used())
                end(self._core, attempt, AttemptOutcome.CANCELLED, "run-closed", f"closed by {reason}", spent)
        closed = LabError("the selection was committed before this could be decided", code="closed")
        for submission in state.submissions.values():
            if submission.decision is Decision.PENDING:
                refuse(self._core, submission.number, Refusal.of(closed))
        self._core.journal.append(_commitment(state, reason))
        self._settle_wall(state)

    def _settle_wall(self, state: RunState) -> None:
        wall = state.reservations.get(WALL_KEY)
        if wall is not None and wall.holding is Holding.RESERVED:
            left_ms = int(self._core.seconds_left(state) * MILLISECONDS_PER_SECOND)
            self._core.ledger.settle(WALL_KEY, {}, wall_units=wall.amounts[Account.WALL] - left_ms)


def _commitment(state: RunState, reason: str) -> events.SelectionCommitted:
    if state.proposed is not None:
        return events.SelectionCommitted(attempt=state.proposed.attempt, rule="explicit", reason=reason)
    best = state.best_attempt
    attempt = None if best is None else best.number
    return events.SelectionCommitted(attempt=attempt, rule="best-selection-score-earliest", reason=reason)


def _is_committed_to(state: RunState, attempt: int | None) -> bool:
    """Whether the same final choice was made before, so that a repeated request is answered alike."""
    return state.committed is not None and state.committed.rule == "explicit" and state.committed.attempt == attempt
