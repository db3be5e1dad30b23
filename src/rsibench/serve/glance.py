"""A glance at a run that may still go on: what its journal says now, as plain values for a page. Nothing is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rsibench.journal.envelope import Entry
from rsibench.journal.fold import fold
from rsibench.journal.state import Phase, RunState
from rsibench.report.wording import ACCOUNTS, amount
from rsibench.run.archive import ArchivedRun
from rsibench.run.result import AttemptSummary
from rsibench.run.summarise import attempt_summaries
from rsibench.spec.item import Split
from rsibench.spec.score import Score
from rsibench.units import MILLISECONDS_PER_SECOND

EVENTS_SHOWN = 30


@dataclass(frozen=True, slots=True)
class AccountLeft:
    """One account with a budget, in words."""

    name: str
    left: str
    limit: str


@dataclass(frozen=True, slots=True)
class Glance:
    """A run as it stands. `seq` grows with every event and says whether something is new."""

    run_id: str
    profile: str
    researcher: str
    seed: int
    phase: str
    sealed: bool
    interrupted: bool
    seq: int
    elapsed_seconds: float
    base: Score | None
    attempts: tuple[AttemptSummary, ...]
    selected_attempt: int | None
    accounts: tuple[AccountLeft, ...]
    incidents: tuple[str, ...]
    events: tuple[tuple[datetime, str], ...]
    """Time and kind, newest first."""


def glance(run: ArchivedRun) -> Glance:
    """What a run's journal says now. Raises IntegrityError when it was damaged."""
    entries = run.entries()
    state = fold(entries, run.run_id)
    plan = state.plan
    base = state.base.get(Split.SELECTION)
    return Glance(
        run_id=run.run_id,
        profile=plan.profile if plan else "",
        researcher=plan.researcher if plan else "",
        seed=plan.seed if plan else 0,
        phase=state.phase.value,
        sealed=state.phase is Phase.SEALED,
        interrupted=state.interrupted,
        seq=state.seq,
        elapsed_seconds=state.elapsed_ms / MILLISECONDS_PER_SECOND,
        base=base.score if base else None,
        attempts=attempt_summaries(state, entries, run.blobs),
        selected_attempt=state.committed.attempt if state.committed else None,
        accounts=_accounts(state),
        incidents=tuple(one.incident for one in state.incidents),
        events=tuple((entry.at, _told(entry)) for entry in reversed(entries[-EVENTS_SHOWN:])),
    )


def _accounts(state: RunState) -> tuple[AccountLeft, ...]:
    return tuple(
        AccountLeft(ACCOUNTS[account], amount(account, balance.available), amount(account, balance.limit))
        for account, balance in state.balances.items()
        if balance.limit
    )


def _told(entry: Entry) -> str:
    attempt = getattr(entry.event, "attempt", None)
    return entry.event.kind if attempt is None else f"{entry.event.kind}, attempt {attempt}"
