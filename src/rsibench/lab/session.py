"""Session: everything that can be asked of the lab of one run, by the researcher and by the controller.

Invariants: a Session holds no truth of its own; built again over the same journal, in another process, it continues
where the first one stopped. Every method is safe to call from any thread, outside of any store transaction. What the
researcher asks is answered with a Reply or an RsibenchError, and `left` says what remains either way.

Who may call what: the HTTP face calls the first group only; the controller may call everything.
"""

from __future__ import annotations

from rsibench.errors import LabError
from rsibench.gate.files import SubmissionFiles
from rsibench.journal.events import Measured, ResearchStarted, TrainingFinished
from rsibench.journal.journal import Journal
from rsibench.journal.state import Decision, Phase, RunState, Selection
from rsibench.lab.attempts import Attempts, AttemptWork
from rsibench.lab.choice import WALL_KEY, Choice
from rsibench.lab.core import Core, Used
from rsibench.lab.feedback import Feedback
from rsibench.lab.intake import Intake
from rsibench.lab.replies import FeedbackReply, Left, SelectReply, StatusReply, SubmitReply, WaitReply
from rsibench.lab.terms import LabTerms
from rsibench.lab.views import attempt_view, base_view, selection_view
from rsibench.ledger.ledger import Ledger
from rsibench.ports.clock import Clock
from rsibench.spec.item import Split
from rsibench.spec.score import Score
from rsibench.store.blobs import Blobs
from rsibench.store.store import Store
from rsibench.units import Account

BASE = 0
"""The base student where an attempt's number is asked for."""


class Session:
    """The lab of one run. The run must be planned, its budget opened and its base scored before research opens."""

    def __init__(
        self, terms: LabTerms, *, store: Store, journal: Journal, ledger: Ledger, blobs: Blobs, clock: Clock
    ) -> None:
        self.terms = terms
        self._core = Core(terms=terms, store=store, journal=journal, ledger=ledger, blobs=blobs, clock=clock)
        self._intake = Intake(self._core)
        self._attempts = Attempts(self._core, self._intake)
        self._choice = Choice(self._core)

    # What the researcher may ask.

    def left(self) -> Left:
        """Seconds, dollars and attempts that can still be used. Never raises for the state of the run."""
        return self._core.left()

    def status(self) -> StatusReply:
        """Where the run stands: attempts, scores, selection and what is left."""
        state = self._core.journal.state()
        return StatusReply(
            left=self._core.left(state),
            run_id=state.run_id,
            profile=self._core.terms.profile,
            variant=self._core.terms.variant,
            phase=state.phase,
            feedback_level=self._core.terms.feedback,
            base=base_view(state),
            attempts=tuple(attempt_view(state, attempt) for attempt in state.attempts.values()),
            submissions=len(state.submissions),
            refused=sum(one.decision is Decision.REFUSED for one in state.submissions.values()),
            selection=selection_view(state),
        )

    def submit(self, files: SubmissionFiles, idempotency_key: str) -> SubmitReply:
        """Hands in a submission and waits for its decision (not for its score).

        The same key with the same bytes gives the same answer and has one effect; with other bytes it is a LabError
        `key-reused`. A submission that was refused only because of the moment (time, budget) may be handed in again
        under its key. Raises SubmissionRefused with all problems, BudgetExceeded or UnknownPrice with nothing spent,
        and LabError `not-open`, `closed`, `closing`, `final-window`, `too-late` or `bad-key`.
        """
        return self._intake.submit(files, idempotency_key)

    def wait(self, attempt: int, timeout_seconds: float) -> WaitReply:
        """Blocks until an attempt is over or the time is up; `finished` tells which. May be repeated.

        A submission is waited for by submitting it again under its key. Raises LabError `no-such-attempt`.
        """
        core = self._core
        core.attempt(core.journal.state(), attempt)
        core.wait_until(lambda: core.journal.state().attempts[attempt].stage.final, timeout_seconds)
        state = core.journal.state()
        standing = state.attempts[attempt]
        return WaitReply(
            left=core.left(state),
            attempt=attempt,
            stage=standing.stage,
            finished=standing.stage.final,
            view=attempt_view(state, standing),
        )

    def feedback(self, attempt: int) -> FeedbackReply:
        """What is told about an attempt, or about the base student as attempt 0, at the profile's level.

        Raises LabError `no-such-attempt`, `no-feedback-yet` while it is not over, `no-feedback` when it has no score.
        """
        return FeedbackReply(
            left=self._core.left(), feedback=Feedback.model_validate_json(self.feedback_bytes(attempt))
        )

    def select(self, attempt: int | None, *, final: bool = False) -> SelectReply:
        """Chooses a scored attempt, or the base student with None; `final` commits, which ends the research.

        Until it is committed a choice can be changed. Attempts that are not over when a choice is committed are
        cancelled. Raises LabError `no-such-attempt`, `not-scored`, `not-open` or `closed`.
        """
        return self._choice.select(attempt, final=final)

    def rollout(self) -> None:
        """Not part of any profile yet. Raises LabError `not-available`."""
        raise LabError(
            "this profile has no rollout model", code="not-available", status=501, fix="write the data without one"
        )

    # What the controller does.

    def open_research(self) -> None:
        """Starts the clock of the research budget, once; does nothing in a run that is beyond that point."""
        with self._core.change() as state:
            if state.phase is Phase.PREPARING:
                self._core.ledger.reserve(WALL_KEY, {Account.WALL: self._core.terms.budget.limits()[Account.WALL]})
                self._core.journal.append(ResearchStarted())

    def recover(self) -> None:
        """Decides submissions that a controller that died left undecided. To be called once, before serving."""
        self._intake.recover()

    def state(self) -> RunState:
        """The run's state as the journal has it."""
        return self._core.journal.state()

    def seconds_left(self) -> float:
        """Seconds of research left, not rounded; 0 after the deadline."""
        return self._core.seconds_left(self._core.journal.state())

    def in_final_window(self) -> bool:
        """Whether no attempt may start any more; the controller then closes with `commit`."""
        return self.seconds_left() <= self._core.terms.budget.final_window_seconds

    def claim_next(self) -> AttemptWork | None:
        """The next attempt in order that nobody in this process works on, or None.

        An attempt whose controller died is given out again; `trained` tells that its training was finished. Raises
        IntegrityError when its stored files were changed.
        """
        return self._attempts.claim_next()

    def wait_for_work(self, timeout_seconds: float) -> bool:
        """Blocks until there is an attempt to claim (True), or the run closes or the time is up (False)."""
        return self._attempts.wait_for_work(timeout_seconds)

    def training_started(self, attempt: int) -> bool:
        """Records that training begins. False when the attempt is over (cancelled): drop it."""
        return self._attempts.training_started(attempt)

    def training_finished(self, finished: TrainingFinished) -> bool:
        """Records an adapter. False when the attempt is over (cancelled): drop it."""
        return self._attempts.training_finished(finished)

    def used(self, attempt: int, used: Used) -> None:
        """Notes what a running attempt has used so far, for the charge if it is cancelled. Kept in memory."""
        self._attempts.used(attempt, used)

    def is_over(self, attempt: int) -> bool:
        """Whether an attempt has ended, for a worker to look now and then whether it was cancelled."""
        return self._core.attempt(self._core.journal.state(), attempt).stage.final

    def scored(self, attempt: int, trials_blob: str, score: Score, measured: Measured | None = None) -> bool:
        """Records a score, settles the attempt and releases its feedback, all at once.

        `trials_blob` holds one canonical JSON trial a line. Repeating it with the same trials does nothing. False when
        the attempt was cancelled before: the score is dropped. Raises IntegrityError for a second, different score,
        for trials of other items, and for more tokens than were reserved.
        """
        return self._attempts.scored(attempt, trials_blob, score, measured or Measured())

    def failed(
        self, attempt: int, *, failure: str, detail: str, used: Used | None = None, measured: Measured | None = None
    ) -> bool:
        """Ends an attempt for reasons of the infrastructure: it uses up no attempt, what it really used is charged.

        False when the attempt had ended otherwise before.
        """
        return self._attempts.failed(attempt, failure, detail, used or Used(), measured or Measured())

    def feedback_bytes(self, attempt: int) -> bytes:
        """The feedback document of an attempt (0: the base student), canonical JSON. Raises like `feedback`."""
        state = self._core.journal.state()
        if attempt == BASE:
            base = state.base.get(Split.SELECTION)
            if base is None:
                raise LabError("the base student is not scored yet", code="no-feedback-yet", fix="try again later")
            return self._attempts.feedback_of(BASE, base.trials_blob, base.score).canonical()
        standing = self._core.attempt(state, attempt)
        if standing.feedback_blob is not None:
            return self._core.blobs.get(standing.feedback_blob)
        if standing.stage.final:
            why = f"attempt {attempt} ended without a score: {standing.failure}"
            raise LabError(why, code="no-feedback", fix="submit again; an attempt that failed was not used up")
        raise LabError(
            f"attempt {attempt} is {standing.stage}", code="no-feedback-yet", fix=f"wait for attempt {attempt}"
        )

    def close_submissions(self) -> None:
        """From now on this process takes no new submission; what was admitted goes on."""
        with self._core.condition:
            self._core.closed = True
        self._core.wake()

    def commit(self, reason: str) -> Selection:
        """Commits the researcher's choice or, without one, the pre-declared rule's; cancels what is not over.

        `reason` is one of `researcher`, `budget`, `final-window`, `researcher-ended`, `operator`. Returns the
        commitment that stands when there was one before.
        """
        return self._choice.commit(reason)

    def stop(self) -> None:
        """The controller is going down: wakes everybody who waits, gives out no more work. State is not changed."""
        with self._core.condition:
            self._core.stopped = True
        self._core.wake()
