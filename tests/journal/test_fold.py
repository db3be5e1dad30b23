"""The fold: what a whole run adds up to, and one refusal for everything that cannot have happened."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from rsibench.errors import IntegrityError
from rsibench.ids import sha256_bytes
from rsibench.journal import events
from rsibench.journal.balance import Balance
from rsibench.journal.events import EVENT, AnyEvent
from rsibench.journal.fold import STEPS, fold
from rsibench.journal.state import Decision, Phase, Stage
from rsibench.outcomes import AttemptOutcome
from rsibench.spec.item import Split
from rsibench.store.holding import Holding
from rsibench.testing.history import History
from rsibench.testing.run_builder import (
    ATTEMPT_COST,
    CONFIG,
    LIMITS,
    OFFICIAL_TRIALS,
    SELECTION_TRIALS,
    RunBuilder,
    make_score,
)
from rsibench.units import Account

BLOB = "b" * 64


class Moment(NamedTuple):
    """A place in the whole run: right before or right after its n-th event of a kind."""

    side: str
    kind: str
    nth: int = 1


def _history_at(run: RunBuilder, moment: Moment) -> History:
    told: list[AnyEvent] = []
    seen = 0
    for entry in run.journal.entries():
        seen += entry.event.kind == moment.kind
        if seen == moment.nth and moment.side == "before":
            break
        told.append(entry.event)
        if seen == moment.nth:
            break
    assert seen == moment.nth, f"the whole run has only {seen} events {moment.kind}"
    return History(told, run_id=run.run_id)


def _planned() -> events.RunPlanned:
    return events.RunPlanned(
        protocol_digest=BLOB,
        lock_blob=BLOB,
        profile="pocket",
        variant="full",
        researcher="x",
        seed=1,
        isolation="unisolated",
    )


def _received(number: int, key: str = "fresh", content: str = "fresh") -> events.SubmissionReceived:
    digest = sha256_bytes(content.encode())
    return events.SubmissionReceived(
        submission=number,
        rows_blob=BLOB,
        config_blob=BLOB,
        hypothesis_blob=BLOB,
        submission_digest=digest,
        idempotency_key=key,
    )


def _admitted(attempt: int, submission: int, reservation: str) -> events.AttemptAdmitted:
    return events.AttemptAdmitted(
        attempt=attempt,
        submission=submission,
        rows=1,
        row_tokens=1,
        loss_tokens=1,
        train_tokens=1,
        config=CONFIG,
        reservation=reservation,
    )


def _trained(attempt: int, weights: bytes = b"student") -> events.TrainingFinished:
    return events.TrainingFinished(
        attempt=attempt,
        adapter_sha256=BLOB,
        adapter_blob=BLOB,
        student_weights_sha256=sha256_bytes(weights),
        steps=1,
        train_tokens=1,
        loss_tokens=1,
        first_loss=1.5,
        last_loss=0.5,
        delta_norm=0.5,
        near_noop=False,
    )


def _scored(attempt: int, total: int = SELECTION_TRIALS) -> events.AttemptScored:
    return events.AttemptScored(attempt=attempt, trials_blob=BLOB, score=make_score(1, total))


def _ended(attempt: int, outcome: AttemptOutcome) -> events.AttemptEnded:
    return events.AttemptEnded(attempt=attempt, outcome=outcome, failure="stopped", detail="")


def _base(split: Split, total: int) -> events.BaseScored:
    return events.BaseScored(split=split, trials_blob=BLOB, score=make_score(1, total))


def _official(attempt: int | None, total: int = OFFICIAL_TRIALS) -> events.OfficialScored:
    return events.OfficialScored(attempt=attempt, trials_blob=BLOB, score=make_score(1, total))


def _reserved(key: str, **amounts: int) -> events.BudgetReserved:
    return events.BudgetReserved(key=key, amounts={Account[name]: units for name, units in amounts.items()})


def _settled(key: str, wall_units: int | None = None, **amounts: int) -> events.BudgetSettled:
    settled = {Account[name]: units for name, units in amounts.items()}
    return events.BudgetSettled(key=key, amounts=settled, wall_units=wall_units)


def _committed(attempt: int | None, explicit: bool = True) -> events.SelectionCommitted:
    if explicit:
        return events.SelectionCommitted(attempt=attempt, rule="explicit", reason="researcher")
    return events.SelectionCommitted(attempt=attempt, rule="best-selection-score-earliest", reason="budget")


PLANNED = Moment("after", "run.planned")
OPENED = Moment("after", "budget.opened")
RESEARCH = Moment("after", "researcher.started")
ADMITTED = Moment("after", "attempt.admitted")
TRAINING = Moment("after", "training.started")
TRAINED = Moment("after", "training.finished")
SCORED = Moment("after", "feedback.released")
LAST_ENDED = Moment("after", "attempt.ended")
PROPOSED = Moment("after", "selection.proposed")
COMMITTED = Moment("after", "researcher.exited")
OFFICIAL = Moment("after", "official.opened")
SEALABLE = Moment("before", "run.sealed")

IMPOSSIBLE: list[tuple[Moment, AnyEvent, str]] = [
    (Moment("before", "run.planned"), events.ResearchStarted(), "the run is empty"),
    (PLANNED, events.ResearchStarted(), "before the budget is opened"),
    (OPENED, events.ResearchStarted(), "before the base student is scored"),
    (OPENED, events.BudgetOpened(limits=LIMITS), "opened before"),
    (PLANNED, events.BudgetOpened(limits={Account.TRAINING: -1}), "negative"),
    (PLANNED, _reserved("early", TRAINING=1), "never opened"),
    (OPENED, _reserved("k", TRAINING=400_001), "400000 are left"),
    (OPENED, _reserved("k", TRAINING=-1), "cannot be reserved"),
    (OPENED, _reserved("k", ROLLOUT=1), "0 are left"),
    (ADMITTED, _reserved("attempt/1", TRAINING=1), "was used before"),
    (ADMITTED, _reserved("k", TRAINING=350_001), "350000 are left"),
    (OPENED, _settled("never"), "never made"),
    (ADMITTED, _settled("attempt/1", TRAINING=50_001), "holds 50000"),
    (ADMITTED, _settled("attempt/1", TRAINING=-1), "holds 50000"),
    (ADMITTED, _settled("attempt/1", ROLLOUT=1), "holds 0"),
    (ADMITTED, _settled("run/wall", WALL=1), "settled apart"),
    (ADMITTED, _settled("run/wall", wall_units=1_800_001), "holds 1800000"),
    (SCORED, _settled("attempt/1", TRAINING=1), "already settled"),
    (SCORED, events.BudgetReleased(key="attempt/1"), "already settled"),
    (Moment("after", "budget.released"), events.BudgetReleased(key="attempt/3"), "already released"),
    (OPENED, events.BudgetReleased(key="never"), "never made"),
    (RESEARCH, _base(Split.SELECTION, SELECTION_TRIALS), "the run is researching"),
    (Moment("after", "base.scored"), _base(Split.SELECTION, SELECTION_TRIALS), "scored on the selection split before"),
    (OPENED, _base(Split.OFFICIAL, OFFICIAL_TRIALS), "the run is preparing"),
    (COMMITTED, _base(Split.OFFICIAL, OFFICIAL_TRIALS), "the run is committed"),
    (RESEARCH, events.ResearchStarted(), "the run is researching"),
    (RESEARCH, events.ResearcherStarted(number=2), "has not ended"),
    (RESEARCH, events.ResearcherExited(number=2, exit_code=0, stopped_by_controller=False), "not running"),
    (COMMITTED, events.ResearcherExited(number=1, exit_code=0, stopped_by_controller=False), "not running"),
    (COMMITTED, events.ResearcherStarted(number=2), "the run is committed"),
    (OPENED, _received(1), "the run is preparing"),
    (RESEARCH, _received(2), "where 1 is next"),
    (SCORED, _received(2, key="key-1"), "'key-1' was used before"),
    (COMMITTED, _received(6), "the run is committed"),
    (RESEARCH, events.SubmissionReplicated(submission=1, attempt=1), "submission 1 was never received"),
    (SCORED, events.SubmissionReplicated(submission=1, attempt=1), "already admitted"),
    (RESEARCH, _admitted(1, 1, "attempt/1"), "submission 1 was never received"),
    (ADMITTED, _admitted(3, 1, "attempt/1"), "where 2 is next"),
    (ADMITTED, _admitted(2, 1, "attempt/1"), "already admitted"),
    (ADMITTED, events.TrainingStarted(attempt=2), "never admitted"),
    (ADMITTED, _trained(1), "attempt 1 is admitted"),
    (ADMITTED, _scored(1), "attempt 1 is admitted"),
    (TRAINING, _scored(1), "attempt 1 is training"),
    (TRAINED, events.TrainingStarted(attempt=1), "attempt 1 is trained"),
    (TRAINED, _trained(1), "attempt 1 is trained"),
    (TRAINED, _scored(1, total=SELECTION_TRIALS - 1), "scored on 39 trials, the base student on 40"),
    (TRAINED, events.FeedbackReleased(attempt=1, feedback_blob=BLOB), "attempt 1 is trained"),
    (Moment("after", "training.started", 2), _trained(2, weights=b"other"), "other base weights"),
    (SCORED, _scored(1), "attempt 1 is scored"),
    (SCORED, _ended(1, AttemptOutcome.FAILED), "attempt 1 is scored"),
    (TRAINED, _ended(1, AttemptOutcome.SCORED), "cannot end as scored"),
    (TRAINED, _ended(1, AttemptOutcome.REFUSED), "cannot end as refused"),
    (SCORED, events.FeedbackReleased(attempt=1, feedback_blob=BLOB), "other feedback about attempt 1"),
    (LAST_ENDED, events.TrainingStarted(attempt=3), "attempt 3 is failed"),
    (TRAINED, events.SelectionProposed(attempt=1), "never scored"),
    (SCORED, events.SelectionProposed(attempt=2), "never scored"),
    (LAST_ENDED, events.SelectionProposed(attempt=3), "never scored"),
    (SCORED, _committed(1), "none was made"),
    (SCORED, _committed(None, explicit=False), "attempt 1 scored better"),
    (LAST_ENDED, _committed(1, explicit=False), "gives attempt 2, not 1"),
    (PROPOSED, _committed(1), "another attempt is committed"),
    (PROPOSED, _committed(None), "another attempt is committed"),
    (PROPOSED, _committed(2, explicit=False), "although a selection was made"),
    (COMMITTED, _committed(2), "the run is committed"),
    (COMMITTED, events.SelectionProposed(attempt=1), "the run is committed"),
    (COMMITTED, events.TrainingStarted(attempt=3), "the run is committed"),
    (PROPOSED, events.OfficialOpened(), "the run is researching"),
    (Moment("after", "selection.committed"), events.OfficialOpened(), "while the researcher is running"),
    (COMMITTED, _official(2), "the run is committed"),
    (OFFICIAL, events.OfficialOpened(), "the run is official"),
    (OFFICIAL, _official(1), "attempt 1 is scored, but 2 was committed"),
    (OFFICIAL, _official(None), "attempt None is scored"),
    (Moment("before", "official.scored"), _official(2, total=99), "need the same items"),
    (OFFICIAL, events.FeedbackReleased(attempt=1, feedback_blob=BLOB), "the run is official"),
    (OFFICIAL, events.RunSealed(result_blob=BLOB), "no official score"),
    (Moment("before", "official.scored"), events.RunSealed(result_blob=BLOB), "no official score"),
    (SEALABLE, _base(Split.OFFICIAL, OFFICIAL_TRIALS), "scored on the official split before"),
    (SEALABLE, _official(2), "scored before"),
    (Moment("after", "official.scored"), events.RunSealed(result_blob=BLOB), "neither settled nor released"),
    (SEALABLE, _planned(), "the run is official"),
    (Moment("after", "run.sealed"), events.IncidentRecorded(incident="late", detail=""), "the run is sealed"),
]


@pytest.mark.parametrize(("moment", "event", "says"), IMPOSSIBLE, ids=lambda value: getattr(value, "kind", None))
def test_what_cannot_happen_is_refused(whole_run: RunBuilder, moment: Moment, event: AnyEvent, says: str) -> None:
    history = _history_at(whole_run, moment)
    before = history.state
    with pytest.raises(IntegrityError, match=rf"run {whole_run.run_id}, event \d+ \({event.kind}\)") as caught:
        history.append(event)
    assert says in str(caught.value)
    assert history.state == before


def test_every_kind_of_event_has_a_rule() -> None:
    mapping = EVENT.json_schema()["discriminator"]["mapping"]
    assert {step.model_fields["kind"].default for step in STEPS} == set(mapping)


def test_a_whole_run_folds_to_what_happened(whole_run: RunBuilder) -> None:
    state = fold(whole_run.journal.entries())
    assert (state.phase, state.seq, state.interrupted) == (Phase.SEALED, whole_run.journal.head().seq, False)
    assert {number: attempt.stage for number, attempt in state.attempts.items()} == {
        1: Stage.SCORED,
        2: Stage.SCORED,
        3: Stage.FAILED,
    }
    decisions = [submission.decision for submission in state.submissions.values()]
    admitted = Decision.ADMITTED
    assert decisions == [admitted, admitted, Decision.REFUSED, Decision.REPLICATED, admitted]
    assert state.submissions[4].attempt == 2
    assert state.committed is not None
    assert state.committed.attempt == 2
    assert state.official is not None
    assert state.official.score.passed == 70
    assert state.base[Split.OFFICIAL].score.passed == 26
    assert state.balances[Account.TRAINING] == Balance(400_000, 0, 60_000)
    assert state.balances[Account.ATTEMPTS] == Balance(4, 0, 2)
    assert state.reservations["attempt/3"].holding is Holding.RELEASED
    assert state.attempts[3].outcome is AttemptOutcome.FAILED


def test_a_submission_without_a_reason_cannot_be_refused(whole_run: RunBuilder) -> None:
    history = _history_at(whole_run, Moment("before", "submission.refused"))
    with pytest.raises(IntegrityError, match="without a reason"):
        history.append(events.SubmissionRefused(submission=3, problems_blob=BLOB, problem_codes={}, incidents=()))


def test_a_repetition_must_be_of_the_same_bytes(whole_run: RunBuilder) -> None:
    history = _history_at(whole_run, Moment("before", "submission.replicated"))
    with pytest.raises(IntegrityError, match="their digests differ"):
        history.append(events.SubmissionReplicated(submission=4, attempt=1))


def test_a_repetition_is_no_new_attempt_unless_the_first_one_failed(whole_run: RunBuilder) -> None:
    history = _history_at(whole_run, LAST_ENDED)
    history.append(_reserved("attempt/4", **{account.name: units for account, units in ATTEMPT_COST.items()}))
    history.append(_received(6, key="again", content="second"))
    with pytest.raises(IntegrityError, match="repeats attempt 2"):
        history.append(_admitted(4, 6, "attempt/4"))
    history.append(events.SubmissionReplicated(submission=6, attempt=2))
    history.append(_received(7, key="once more", content="third"))
    history.append(_admitted(4, 7, "attempt/4"))
    assert history.state.attempts[4].submission == 7


@pytest.mark.parametrize(
    ("amounts", "says"), [({}, "is not open"), ({"TRAINING": 5}, "holds 0 attempts"), ({"ATTEMPTS": 2}, "holds 2")]
)
def test_an_attempt_needs_a_reservation_of_its_own(whole_run: RunBuilder, amounts: dict[str, int], says: str) -> None:
    history = _history_at(whole_run, SCORED)
    if amounts:
        history.append(_reserved("attempt/2", **amounts))
    history.append(_received(2))
    with pytest.raises(IntegrityError, match=says):
        history.append(_admitted(2, 2, "attempt/2"))


def test_a_reservation_serves_one_attempt(whole_run: RunBuilder) -> None:
    history = _history_at(whole_run, ADMITTED)
    history.append(_received(2))
    with pytest.raises(IntegrityError, match="belongs to attempt"):
        history.append(_admitted(2, 2, "attempt/1"))


def test_training_may_start_again_after_an_interruption(whole_run: RunBuilder) -> None:
    history = _history_at(whole_run, TRAINING)
    history.append(events.RunInterrupted(reason="operator"))
    with pytest.raises(IntegrityError, match="not yet resumed"):
        history.append(events.TrainingStarted(attempt=1))
    history.append(events.RunResumed())
    history.append(events.TrainingStarted(attempt=1))
    history.append(events.ResearcherStarted(number=2))
    assert history.state.attempts[1].stage is Stage.TRAINING


def test_the_default_keeps_the_base_when_nothing_beats_it(whole_run: RunBuilder) -> None:
    history = _history_at(whole_run, TRAINED)
    history.append(_scored(1))
    assert history.state.best_attempt is not None
    history.append(_committed(None, explicit=False))
    assert history.state.phase is Phase.COMMITTED


def test_the_earliest_of_equal_attempts_is_the_best(whole_run: RunBuilder) -> None:
    history = _history_at(whole_run, Moment("after", "training.finished", 2))
    history.append(events.AttemptScored(attempt=2, trials_blob=BLOB, score=make_score(15, SELECTION_TRIALS)))
    assert [attempt.rate for attempt in history.state.attempts.values()] == [15 / 40, 15 / 40]
    assert history.state.best_attempt is not None
    assert history.state.best_attempt.number == 1


def test_a_withheld_score_is_never_the_best(whole_run: RunBuilder) -> None:
    history = _history_at(whole_run, TRAINED)
    withheld = make_score(40, SELECTION_TRIALS).model_copy(update={"rate": None})
    history.append(events.AttemptScored(attempt=1, trials_blob=BLOB, score=withheld))
    assert history.state.best_attempt is None


def test_an_unfinished_attempt_keeps_a_run_from_being_sealed(whole_run: RunBuilder) -> None:
    told = [entry.event for entry in whole_run.journal.entries() if entry.event.kind != "attempt.ended"]
    with pytest.raises(IntegrityError, match=r"attempts \[3\] never ended"):
        History(told, run_id=whole_run.run_id)


def test_an_undecided_submission_keeps_a_run_from_being_sealed(whole_run: RunBuilder) -> None:
    told = [entry.event for entry in whole_run.journal.entries() if entry.event.kind != "submission.refused"]
    with pytest.raises(IntegrityError, match=r"submissions \[3\] were never decided"):
        History(told, run_id=whole_run.run_id)


def test_a_scored_attempt_that_was_not_charged_keeps_a_run_from_being_sealed(whole_run: RunBuilder) -> None:
    told: list[AnyEvent] = []
    for entry in whole_run.journal.entries():
        event = entry.event
        if isinstance(event, events.BudgetSettled) and event.key == "attempt/1":
            event = events.BudgetReleased(key="attempt/1")
        told.append(event)
    with pytest.raises(IntegrityError, match="charged 0 attempts instead of 1"):
        History(told, run_id=whole_run.run_id)


def test_incidents_are_kept_with_their_place(whole_run: RunBuilder) -> None:
    history = _history_at(whole_run, RESEARCH)
    entry = history.append(events.IncidentRecorded(incident="protected_item", detail="row 3"))
    assert [(one.seq, one.incident, one.detail) for one in history.state.incidents] == [
        (entry.seq, "protected_item", "row 3")
    ]


def test_no_events_fold_only_with_a_name() -> None:
    assert fold([], run_id="pocket-none").phase is Phase.EMPTY
    with pytest.raises(IntegrityError, match="no events"):
        fold([])


def test_another_runs_event_is_refused(whole_run: RunBuilder) -> None:
    entries = list(whole_run.journal.entries())
    with pytest.raises(IntegrityError, match="belongs to run"):
        fold(entries, run_id="pocket-other")
    with pytest.raises(IntegrityError, match="event 4 is next"):
        fold(entries[:3] + entries[4:])
