"""Random histories: whatever the rules allow keeps the invariants, folds alike in any pieces, and has valid parts."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from rsibench.errors import IntegrityError
from rsibench.ids import sha256_bytes
from rsibench.journal import events
from rsibench.journal.chain import verify_chain
from rsibench.journal.events import AnyEvent
from rsibench.journal.fold import apply, fold
from rsibench.journal.state import Phase, RunState, Stage
from rsibench.outcomes import AttemptOutcome
from rsibench.spec.item import Split
from rsibench.store.holding import Holding
from rsibench.testing.history import History
from rsibench.testing.run_builder import CONFIG, make_score
from rsibench.units import Account

BLOB = "c" * 64
LIMITS = {Account.WALL: 100, Account.TRAINING: 20, Account.ATTEMPTS: 3}
PHASES = list(Phase)

Draw = Callable[[st.SearchStrategy[int]], int]


def _reserved(key: int, draw: Draw) -> AnyEvent:
    amounts = {Account.TRAINING: draw(st.integers(-1, 6)), Account.ATTEMPTS: draw(st.sampled_from([1, 1, 1, 0, 2]))}
    return events.BudgetReserved(key=f"k{key}", amounts=amounts)


def _settled(key: int, draw: Draw) -> AnyEvent:
    amounts = {Account.TRAINING: draw(st.integers(-1, 6)), Account.ATTEMPTS: draw(st.sampled_from([1, 1, 0]))}
    return events.BudgetSettled(key=f"k{key}", amounts=amounts)


def _received(number: int, draw: Draw) -> AnyEvent:
    content = str(draw(st.integers(1, 4))).encode()
    return events.SubmissionReceived(
        submission=number,
        rows_blob=BLOB,
        config_blob=BLOB,
        hypothesis_blob=BLOB,
        submission_digest=sha256_bytes(content),
        idempotency_key=f"key-{number}",
    )


def _admitted(number: int, draw: Draw) -> AnyEvent:
    return events.AttemptAdmitted(
        attempt=number,
        submission=max(1, number + draw(st.sampled_from([0, 0, 0, 1, -1]))),
        rows=1,
        row_tokens=1,
        loss_tokens=1,
        train_tokens=1,
        config=CONFIG,
        reservation=f"k{max(1, number + draw(st.sampled_from([0, 0, 0, 1, -1])))}",
    )


def _trained(number: int, _draw: Draw) -> AnyEvent:
    return events.TrainingFinished(
        attempt=number,
        adapter_sha256=BLOB,
        adapter_blob=BLOB,
        student_weights_sha256=sha256_bytes(b"student"),
        steps=1,
        train_tokens=1,
        loss_tokens=1,
        first_loss=1.5,
        last_loss=0.5,
        delta_norm=0.5,
        near_noop=False,
    )


def _committed(number: int, draw: Draw) -> AnyEvent:
    attempt = draw(st.sampled_from([0, number])) or None
    if draw(st.integers(0, 1)):
        return events.SelectionCommitted(attempt=attempt, rule="explicit", reason="researcher")
    return events.SelectionCommitted(attempt=attempt, rule="best-selection-score-earliest", reason="budget")


def _base(split: Split) -> AnyEvent:
    return events.BaseScored(split=split, trials_blob=BLOB, score=make_score(2, 8))


MAKERS: dict[str, Callable[[int, Draw], AnyEvent]] = {
    "plan": lambda _n, _d: events.RunPlanned(
        protocol_digest=BLOB, lock_blob=BLOB, profile="p", variant="full", researcher="x", seed=1, isolation="none"
    ),
    "open": lambda _n, _d: events.BudgetOpened(limits=LIMITS),
    "reserve": _reserved,
    "settle": _settled,
    "release": lambda n, _d: events.BudgetReleased(key=f"k{n}"),
    "base": lambda _n, _d: _base(Split.SELECTION),
    "official base": lambda _n, _d: _base(Split.OFFICIAL),
    "research": lambda _n, _d: events.ResearchStarted(),
    "start": lambda n, _d: events.ResearcherStarted(number=n),
    "exit": lambda n, _d: events.ResearcherExited(number=n, exit_code=0, stopped_by_controller=False),
    "receive": _received,
    "refuse": lambda n, _d: events.SubmissionRefused(
        submission=n, problems_blob=BLOB, problem_codes={"x": 1}, incidents=()
    ),
    "replicate": lambda n, d: events.SubmissionReplicated(submission=n, attempt=d(st.integers(1, 3))),
    "admit": _admitted,
    "train": lambda n, _d: events.TrainingStarted(attempt=n),
    "trained": _trained,
    "score": lambda n, d: events.AttemptScored(attempt=n, trials_blob=BLOB, score=make_score(d(st.integers(0, 8)), 8)),
    "end": lambda n, d: events.AttemptEnded(
        attempt=n, outcome=list(AttemptOutcome)[d(st.integers(0, 3))], failure="x", detail=""
    ),
    "feedback": lambda n, _d: events.FeedbackReleased(attempt=n, feedback_blob=BLOB),
    "propose": lambda n, d: events.SelectionProposed(attempt=d(st.sampled_from([0, n])) or None),
    "commit": _committed,
    "official": lambda _n, _d: events.OfficialOpened(),
    "official score": lambda n, d: events.OfficialScored(
        attempt=d(st.sampled_from([0, n])) or None, trials_blob=BLOB, score=make_score(4, 8)
    ),
    "seal": lambda _n, _d: events.RunSealed(result_blob=BLOB),
    "interrupt": lambda _n, _d: events.RunInterrupted(reason="x"),
    "resume": lambda _n, _d: events.RunResumed(),
    "incident": lambda _n, _d: events.IncidentRecorded(incident="x", detail=""),
}
BEGINNING = ["plan", "open", "base", "research", "start"]
ATTEMPT = ["reserve", "receive", "admit", "train", "trained", "score", "settle", "feedback"]
END = [
    *["propose", "commit"] * 4,
    *["release", "end", "refuse"] * 3,
    *["exit", "official", "official base", "official score", "official score", "seal", "incident"],
]
"""One way through a run, from which random histories stray; without it few of them would come far."""


def _usual(step: str, state: RunState, count: int) -> int:
    """The number that a controller would use for a step; `count` is how often the step was tried."""
    if step in ("receive", "refuse"):
        return len(state.submissions) + (step == "receive")
    if step in ("admit", "train", "trained", "score", "feedback"):
        return len(state.attempts) + (step == "admit")
    return count


_STRAYS = st.lists(st.tuples(st.sampled_from(sorted(MAKERS)), st.integers(1, 4)), max_size=2)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A history of events that the rules allowed, some from the usual path and some at random."""
    history = History()
    usual = [*BEGINNING, *ATTEMPT * draw(st.integers(0, 3)), *END]
    counts: dict[str, int] = {}
    for step in usual:
        strays = draw(st.just([]) | st.just([]) | _STRAYS)
        counts[step] = counts.get(step, 0) + 1
        resume = [("resume", 1)] if history.state.interrupted else []
        for name, number in [*resume, *strays, (step, _usual(step, history.state, counts[step]))]:
            try:
                history.append(MAKERS[name](number, draw))
            except IntegrityError:
                continue
    return history


def _check(before: RunState, after: RunState) -> None:
    """What must hold after every event, whatever it was."""
    assert PHASES.index(after.phase) >= PHASES.index(before.phase)
    for account, balance in after.balances.items():
        held = [one for one in after.reservations.values() if one.holding is Holding.RESERVED]
        assert balance.reserved == sum(one.amounts.get(account, 0) for one in held)
        assert balance.spent == sum(one.spent.get(account, 0) for one in after.reservations.values())
        assert min(balance.available, balance.reserved, balance.spent) >= 0
        assert balance.limit == LIMITS[account]
    for number, attempt in before.attempts.items():
        later = after.attempts[number]
        if attempt.stage.final:
            assert (later.stage, later.score, later.adapter_sha256) == (
                attempt.stage,
                attempt.score,
                attempt.adapter_sha256,
            )
        assert (later.submission, later.reservation) == (attempt.submission, attempt.reservation)
    assert before.committed in (None, after.committed)
    assert before.official in (None, after.official)
    if after.committed is not None and after.committed.attempt is not None:
        assert after.attempts[after.committed.attempt].stage is Stage.SCORED
    if after.official is not None:
        assert after.committed is not None
        assert after.official.attempt == after.committed.attempt
    if after.sealed:
        assert all(attempt.stage.final for attempt in after.attempts.values())
        assert all(balance.reserved == 0 for balance in after.balances.values())


@settings(max_examples=150, deadline=None)
@given(history=histories())
def test_every_allowed_history_keeps_the_invariants(history: History) -> None:
    state = RunState(run_id=history.state.run_id)
    for entry in history.entries:
        after = apply(state, entry)
        _check(state, after)
        state = after
    assert state == history.state


@settings(max_examples=60, deadline=None)
@given(history=histories(), data=st.data())
def test_folding_in_pieces_equals_folding_at_once(history: History, data: st.DataObject) -> None:
    run_id = history.state.run_id
    cut = data.draw(st.integers(0, len(history.entries)), label="cut")
    state = fold(history.entries[:cut], run_id=run_id)
    assert state.seq == cut
    for entry in history.entries[cut:]:
        state = apply(state, entry)
    assert state == fold(history.entries, run_id=run_id)
    if history.rows:
        verify_chain(history.rows)
