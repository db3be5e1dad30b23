"""What may happen to a run as a whole: planned, base scored, researched, committed once, opened once, sealed."""

from __future__ import annotations

from dataclasses import replace

from rsibench.journal.events import (
    BaseScored,
    IncidentRecorded,
    OfficialOpened,
    OfficialScored,
    ResearcherExited,
    ResearcherStarted,
    ResearchStarted,
    RunInterrupted,
    RunPlanned,
    RunResumed,
    RunSealed,
    SelectionCommitted,
    SelectionProposed,
)
from rsibench.journal.rules import Rules, put, require, require_phase
from rsibench.journal.state import (
    BaseResult,
    Decision,
    Incident,
    OfficialResult,
    Phase,
    RunState,
    Selection,
    Stage,
)
from rsibench.outcomes import ATTEMPT_RULES, AttemptOutcome
from rsibench.spec.item import Split
from rsibench.store.holding import Holding
from rsibench.units import Account

COURSE = Rules()

_OPEN_PHASES = (Phase.PREPARING, Phase.RESEARCHING, Phase.COMMITTED, Phase.OFFICIAL)


@COURSE.on(RunPlanned)
def _planned(state: RunState, event: RunPlanned) -> RunState:
    require_phase(state, Phase.EMPTY)
    return replace(state, phase=Phase.PREPARING, plan=event)


@COURSE.on(BaseScored)
def _base_scored(state: RunState, event: BaseScored) -> RunState:
    require_phase(state, Phase.OFFICIAL if event.split is Split.OFFICIAL else Phase.PREPARING)
    require(event.split not in state.base, f"the base student was scored on the {event.split} split before")
    if event.split is Split.OFFICIAL and state.official is not None:
        _require_same_items(event.score.total, state.official.score.total)
    return replace(state, base=put(state.base, event.split, BaseResult(event.trials_blob, event.score)))


@COURSE.on(ResearchStarted)
def _research(state: RunState, _event: ResearchStarted) -> RunState:
    require_phase(state, Phase.PREPARING)
    require(state.balances, "research starts before the budget is opened")
    require(Split.SELECTION in state.base, "research starts before the base student is scored on the selection split")
    return replace(state, phase=Phase.RESEARCHING)


@COURSE.on(ResearcherStarted)
def _researcher_started(state: RunState, event: ResearcherStarted) -> RunState:
    require_phase(state, Phase.RESEARCHING)
    require(not state.researcher_running, f"researcher process {state.researchers_started} has not ended")
    expected = state.researchers_started + 1
    require(event.number == expected, f"researcher process {event.number} started where {expected} is next")
    return replace(state, researchers_started=event.number, researcher_running=True)


@COURSE.on(ResearcherExited)
def _researcher_exited(state: RunState, event: ResearcherExited) -> RunState:
    require_phase(state, Phase.RESEARCHING, Phase.COMMITTED)
    running = state.researcher_running and event.number == state.researchers_started
    require(running, f"researcher process {event.number} is not running")
    return replace(state, researcher_running=False)


@COURSE.on(SelectionProposed)
def _proposed(state: RunState, event: SelectionProposed) -> RunState:
    require_phase(state, Phase.RESEARCHING)
    _require_selectable(state, event.attempt)
    return replace(state, proposed=Selection(event.attempt))


@COURSE.on(SelectionCommitted)
def _committed(state: RunState, event: SelectionCommitted) -> RunState:
    require_phase(state, Phase.RESEARCHING)
    _require_selectable(state, event.attempt)
    if event.rule == "explicit":
        require(state.proposed is not None, "an explicit selection is committed, but none was made")
        same = state.proposed is not None and state.proposed.attempt == event.attempt
        require(same, "another attempt is committed than the one that was selected")
    else:
        require(state.proposed is None, "the default rule is applied although a selection was made")
        _require_default(state, event.attempt)
    return replace(state, phase=Phase.COMMITTED, committed=Selection(event.attempt, event.rule, event.reason))


@COURSE.on(OfficialOpened)
def _official_opened(state: RunState, _event: OfficialOpened) -> RunState:
    require_phase(state, Phase.COMMITTED)
    require(not state.researcher_running, "the official split is opened while the researcher is running")
    return replace(state, phase=Phase.OFFICIAL)


@COURSE.on(OfficialScored)
def _official_scored(state: RunState, event: OfficialScored) -> RunState:
    require_phase(state, Phase.OFFICIAL)
    require(state.official is None, "the official split was scored before")
    committed = None if state.committed is None else state.committed.attempt
    require(event.attempt == committed, f"attempt {event.attempt} is scored, but {committed} was committed")
    if Split.OFFICIAL in state.base:
        _require_same_items(event.score.total, state.base[Split.OFFICIAL].score.total)
    return replace(state, official=OfficialResult(event.attempt, event.trials_blob, event.score))


@COURSE.on(RunSealed)
def _sealed(state: RunState, event: RunSealed) -> RunState:
    require_phase(state, Phase.OFFICIAL)
    require(state.official is not None, "the committed checkpoint has no official score")
    require(Split.OFFICIAL in state.base, "the base student has no official score")
    pending = [one.number for one in state.submissions.values() if one.decision is Decision.PENDING]
    require(not pending, f"submissions {pending} were never decided")
    unfinished = [attempt.number for attempt in state.attempts.values() if not attempt.stage.final]
    require(not unfinished, f"attempts {unfinished} never ended")
    held = [one.key for one in state.reservations.values() if one.holding is Holding.RESERVED]
    require(not held, f"reservations {held} were neither settled nor released")
    _require_attempts_charged(state)
    return replace(state, phase=Phase.SEALED, result_blob=event.result_blob)


@COURSE.on(RunInterrupted)
def _interrupted(state: RunState, _event: RunInterrupted) -> RunState:
    require_phase(state, *_OPEN_PHASES)
    return replace(state, interrupted=True)


@COURSE.on(RunResumed)
def _resumed(state: RunState, _event: RunResumed) -> RunState:
    require_phase(state, *_OPEN_PHASES)
    # A controller that was killed took its researcher with it and could not say so.
    return replace(state, interrupted=False, researcher_running=False)


@COURSE.on(IncidentRecorded)
def _incident(state: RunState, event: IncidentRecorded) -> RunState:
    require_phase(state, *_OPEN_PHASES)
    incident = Incident(state.seq + 1, event.incident, event.detail)
    return replace(state, incidents=(*state.incidents, incident))


def _require_selectable(state: RunState, number: int | None) -> None:
    """Only a scored attempt may be chosen; None keeps the base student."""
    if number is None:
        return
    attempt = state.attempts.get(number)
    scored = attempt is not None and attempt.stage is Stage.SCORED
    require(scored, f"attempt {number} is selected but was never scored")


def _require_default(state: RunState, number: int | None) -> None:
    """The default is the best selection score, the earliest of equals; the base is kept when nothing beats it."""
    best = state.best_attempt
    if number is not None:
        expected = None if best is None else best.number
        require(number == expected, f"the default rule gives attempt {expected}, not {number}")
    elif best is not None and best.score is not None and best.score.rate is not None:
        base = state.base[Split.SELECTION].score.rate
        kept = base is not None and base >= best.score.rate
        require(kept, f"the base student is kept although attempt {best.number} scored better")


def _require_same_items(first: int, second: int) -> None:
    require(first == second, f"{first} official trials here and {second} there: base and selection need the same items")


def _require_attempts_charged(state: RunState) -> None:
    """A scored attempt used up one attempt, any other none; see `outcomes.ATTEMPT_RULES`."""
    for attempt in state.attempts.values():
        charged = state.reservations[attempt.reservation].spent.get(Account.ATTEMPTS, 0)
        due = int(ATTEMPT_RULES[attempt.outcome or AttemptOutcome.CANCELLED].uses_attempt)
        name = f"attempt {attempt.number}, which is {attempt.stage},"
        require(charged == due, f"{name} was charged {charged} attempts instead of {due}")
