"""What may happen to submissions and attempts: each decided once, trained from the same base, scored at most once."""

from __future__ import annotations

from dataclasses import replace

from rsibench.journal.events import (
    AttemptAdmitted,
    AttemptEnded,
    AttemptScored,
    FeedbackReleased,
    SubmissionReceived,
    SubmissionRefused,
    SubmissionReplicated,
    TrainingFinished,
    TrainingStarted,
)
from rsibench.journal.rules import Impossible, Rules, put, require, require_phase
from rsibench.journal.state import (
    AttemptState,
    Decision,
    Phase,
    RunState,
    Stage,
    SubmissionState,
)
from rsibench.outcomes import AttemptOutcome
from rsibench.spec.item import Split
from rsibench.store.holding import Holding
from rsibench.units import Account

ATTEMPTS = Rules()


@ATTEMPTS.on(SubmissionReceived)
def _received(state: RunState, event: SubmissionReceived) -> RunState:
    require_phase(state, Phase.RESEARCHING)
    expected = len(state.submissions) + 1
    require(event.submission == expected, f"submission {event.submission} was received where {expected} is next")
    keys = {submission.idempotency_key for submission in state.submissions.values()}
    require(event.idempotency_key not in keys, f"the idempotency key {event.idempotency_key!r} was used before")
    submission = SubmissionState(
        number=event.submission,
        rows_blob=event.rows_blob,
        config_blob=event.config_blob,
        hypothesis_blob=event.hypothesis_blob,
        digest=event.submission_digest,
        idempotency_key=event.idempotency_key,
    )
    return replace(state, submissions=put(state.submissions, event.submission, submission))


@ATTEMPTS.on(SubmissionRefused)
def _refused(state: RunState, event: SubmissionRefused) -> RunState:
    require_phase(state, Phase.RESEARCHING, Phase.COMMITTED)
    require(sum(event.problem_codes.values()) > 0, "a submission is refused without a reason")
    refused = replace(
        _pending(state, event.submission),
        decision=Decision.REFUSED,
        problems_blob=event.problems_blob,
        incidents=event.incidents,
    )
    return replace(state, submissions=put(state.submissions, event.submission, refused))


@ATTEMPTS.on(SubmissionReplicated)
def _replicated(state: RunState, event: SubmissionReplicated) -> RunState:
    require_phase(state, Phase.RESEARCHING)
    submission = _pending(state, event.submission)
    attempt = _attempt(state, event.attempt)
    same = attempt.submission_digest == submission.digest
    require(same, f"submission {event.submission} is not a repetition of attempt {event.attempt}: their digests differ")
    repeated = replace(submission, decision=Decision.REPLICATED, attempt=event.attempt)
    return replace(state, submissions=put(state.submissions, event.submission, repeated))


@ATTEMPTS.on(AttemptAdmitted)
def _admitted(state: RunState, event: AttemptAdmitted) -> RunState:
    require_phase(state, Phase.RESEARCHING)
    expected = len(state.attempts) + 1
    require(event.attempt == expected, f"attempt {event.attempt} was admitted where {expected} is next")
    submission = _pending(state, event.submission)
    _require_reservation(state, event)
    for other in state.attempts.values():
        repeats = other.submission_digest == submission.digest and other.stage not in (Stage.FAILED, Stage.CANCELLED)
        require(not repeats, f"it repeats attempt {other.number} byte for byte, so it is no new attempt")
    admitted = replace(submission, decision=Decision.ADMITTED, attempt=event.attempt)
    attempt = AttemptState(
        number=event.attempt,
        submission=event.submission,
        submission_digest=submission.digest,
        reservation=event.reservation,
        config=event.config,
        rows=event.rows,
        train_tokens=event.train_tokens,
    )
    submissions = put(state.submissions, event.submission, admitted)
    return replace(state, submissions=submissions, attempts=put(state.attempts, event.attempt, attempt))


@ATTEMPTS.on(TrainingStarted)
def _training(state: RunState, event: TrainingStarted) -> RunState:
    require_phase(state, Phase.RESEARCHING)
    attempt = _attempt_in(state, event.attempt, Stage.ADMITTED, Stage.TRAINING)
    return _with(state, replace(attempt, stage=Stage.TRAINING))


@ATTEMPTS.on(TrainingFinished)
def _trained(state: RunState, event: TrainingFinished) -> RunState:
    require_phase(state, Phase.RESEARCHING)
    attempt = _attempt_in(state, event.attempt, Stage.TRAINING)
    base = state.student_weights_sha256 or event.student_weights_sha256
    require(event.student_weights_sha256 == base, "it was trained from other base weights than an earlier attempt")
    trained = replace(
        attempt,
        stage=Stage.TRAINED,
        adapter_sha256=event.adapter_sha256,
        adapter_blob=event.adapter_blob,
        near_noop=event.near_noop,
    )
    return replace(_with(state, trained), student_weights_sha256=base)


@ATTEMPTS.on(AttemptScored)
def _scored(state: RunState, event: AttemptScored) -> RunState:
    require_phase(state, Phase.RESEARCHING)
    attempt = _attempt_in(state, event.attempt, Stage.TRAINED)
    items = state.base[Split.SELECTION].score.total
    require(event.score.total == items, f"it was scored on {event.score.total} trials, the base student on {items}")
    return _with(state, replace(attempt, stage=Stage.SCORED, trials_blob=event.trials_blob, score=event.score))


@ATTEMPTS.on(AttemptEnded)
def _ended(state: RunState, event: AttemptEnded) -> RunState:
    require_phase(state, Phase.RESEARCHING, Phase.COMMITTED)
    attempt = _attempt_in(state, event.attempt, Stage.ADMITTED, Stage.TRAINING, Stage.TRAINED)
    without_score = event.outcome in (AttemptOutcome.FAILED, AttemptOutcome.CANCELLED)
    require(without_score, f"an attempt cannot end as {event.outcome}")
    return _with(state, replace(attempt, stage=Stage(event.outcome.value), failure=event.failure))


@ATTEMPTS.on(FeedbackReleased)
def _feedback(state: RunState, event: FeedbackReleased) -> RunState:
    require_phase(state, Phase.RESEARCHING, Phase.COMMITTED)
    attempt = _attempt_in(state, event.attempt, Stage.SCORED, Stage.FAILED, Stage.CANCELLED)
    before = attempt.feedback_blob or event.feedback_blob
    require(before == event.feedback_blob, f"other feedback about attempt {event.attempt} was released before")
    return _with(state, replace(attempt, feedback_blob=event.feedback_blob))


def _pending(state: RunState, number: int) -> SubmissionState:
    submission = state.submissions.get(number)
    if submission is None:
        raise Impossible(f"submission {number} was never received")
    require(submission.decision is Decision.PENDING, f"submission {number} is already {submission.decision}")
    return submission


def _attempt(state: RunState, number: int) -> AttemptState:
    attempt = state.attempts.get(number)
    if attempt is None:
        raise Impossible(f"attempt {number} was never admitted")
    return attempt


def _attempt_in(state: RunState, number: int, *allowed: Stage) -> AttemptState:
    attempt = _attempt(state, number)
    needs = " or ".join(allowed)
    require(attempt.stage in allowed, f"attempt {number} is {attempt.stage}; this needs it to be {needs}")
    return attempt


def _require_reservation(state: RunState, event: AttemptAdmitted) -> None:
    """An attempt holds an open reservation of its own, with one unit of the attempts account."""
    reservation = state.reservations.get(event.reservation)
    if reservation is None or reservation.holding is not Holding.RESERVED:
        raise Impossible(f"its reservation {event.reservation!r} is not open")
    attempts = reservation.amounts.get(Account.ATTEMPTS, 0)
    require(attempts == 1, f"its reservation holds {attempts} attempts instead of one")
    owners = [attempt.number for attempt in state.attempts.values() if attempt.reservation == event.reservation]
    require(not owners, f"its reservation {event.reservation!r} belongs to attempt {owners[:1]}")


def _with(state: RunState, attempt: AttemptState) -> RunState:
    return replace(state, attempts=put(state.attempts, attempt.number, attempt))
