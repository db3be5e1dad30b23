"""Attempts, from the controller's side: claimed in order, trained, scored or failed, and charged what they used.

Invariants: an attempt is claimed by one worker of this process at a time; its end and its settlement are one
transaction; an attempt that has ended takes no further result. A claim lives in memory only, so that an attempt whose
controller died is claimed again.
"""

from __future__ import annotations

from dataclasses import dataclass

from rsibench.gate.submission import TrainingRow, check_submission
from rsibench.journal import events
from rsibench.journal.state import AttemptState, Phase, RunState, Stage
from rsibench.lab.core import Core, Used, program_fault
from rsibench.lab.feedback import Feedback, build_feedback
from rsibench.lab.intake import Intake
from rsibench.outcomes import ATTEMPT_RULES, AttemptOutcome
from rsibench.spec.item import Trial
from rsibench.spec.recipe import RunConfig
from rsibench.spec.score import Score
from rsibench.units import Account

_NOT_MEASURED = events.Measured()


@dataclass(frozen=True, slots=True)
class AttemptWork:
    """An attempt to be worked on. `trained` is set when an earlier controller finished its training: only score it."""

    attempt: int
    submission: int
    rows: tuple[TrainingRow, ...]
    config: RunConfig
    row_tokens: int
    loss_tokens: int
    train_tokens: int
    trained: events.TrainingFinished | None


class Attempts:
    """The attempts of one Session. Safe to share between threads."""

    def __init__(self, core: Core, intake: Intake) -> None:
        self._core = core
        self._intake = intake

    def claim_next(self) -> AttemptWork | None:
        """See Session.claim_next."""
        with self._core.condition:
            state = self._core.journal.state()
            waiting = self._claimable(state)
            if not waiting:
                return None
            attempt = waiting[0]
            self._core.claimed[attempt.number] = self._core.journal.elapsed_ms()
        # Read back from the blobs and gated again: what is trained is what was stored, also after a restart.
        files = self._intake.files_of(state.submissions[attempt.submission])
        admitted = check_submission(files, self._core.terms.gate)
        if (admitted.config, admitted.train_tokens) != (attempt.config, attempt.train_tokens):
            raise program_fault("the gate reads its submission differently now", f"attempt {attempt.number}")
        return AttemptWork(
            attempt=attempt.number,
            submission=attempt.submission,
            rows=admitted.rows,
            config=admitted.config,
            row_tokens=admitted.row_tokens,
            loss_tokens=admitted.loss_tokens,
            train_tokens=admitted.train_tokens,
            trained=self._core.training_of(attempt.number),
        )

    def wait_for_work(self, timeout_seconds: float) -> bool:
        """See Session.wait_for_work."""

        def news() -> bool:
            state = self._core.journal.state()
            return bool(self._claimable(state)) or self._core.closed or state.phase is not Phase.RESEARCHING

        self._core.wait_until(news, timeout_seconds)
        with self._core.condition:
            return bool(self._claimable(self._core.journal.state()))

    def training_started(self, attempt: int) -> bool:
        """See Session.training_started."""
        with self._core.change() as state:
            going = not self._core.attempt(state, attempt).stage.final
            if going:
                self._core.journal.append(events.TrainingStarted(attempt=attempt))
        return going

    def training_finished(self, finished: events.TrainingFinished) -> bool:
        """See Session.training_finished."""
        with self._core.change() as state:
            going = not self._core.attempt(state, finished.attempt).stage.final
            if going:
                self._core.journal.append(finished)
        return going

    def used(self, attempt: int, used: Used) -> None:
        """See Session.used."""
        with self._core.condition:
            self._core.used[attempt] = used

    def scored(self, attempt: int, trials_blob: str, score: Score, measured: events.Measured = _NOT_MEASURED) -> bool:
        """See Session.scored."""
        feedback = self._core.blobs.put(self.feedback_of(attempt, trials_blob, score).canonical())
        with self._core.change() as state:
            standing = self._core.attempt(state, attempt)
            if standing.stage is Stage.SCORED and standing.trials_blob != trials_blob:
                raise program_fault("it was scored before, with other trials", f"attempt {attempt}")
            if standing.stage.final:
                return standing.stage is Stage.SCORED
            scored = events.AttemptScored(attempt=attempt, trials_blob=trials_blob, score=score, measured=measured)
            self._core.journal.append(scored)
            used = Used(prompt_tokens=score.prompt_tokens, output_tokens=score.output_tokens)
            settle(self._core, standing, AttemptOutcome.SCORED, used)
            self._core.journal.append(events.FeedbackReleased(attempt=attempt, feedback_blob=feedback))
        return True

    def failed(
        self, attempt: int, failure: str, detail: str, used: Used, measured: events.Measured = _NOT_MEASURED
    ) -> bool:
        """See Session.failed."""
        with self._core.change() as state:
            standing = self._core.attempt(state, attempt)
            if standing.stage.final:
                return standing.stage is Stage.FAILED
            end(self._core, standing, AttemptOutcome.FAILED, failure, detail, used, measured)
        return True

    def feedback_of(self, attempt: int, trials_blob: str, score: Score) -> Feedback:
        """Feedback at the profile's level, from the stored trials (one canonical JSON object a line)."""
        lines = self._core.blobs.get(trials_blob).splitlines()
        trials = [Trial.model_validate_json(line) for line in lines]
        return build_feedback(attempt, trials, score, self._core.terms.items, self._core.terms.feedback)

    def _claimable(self, state: RunState) -> list[AttemptState]:
        """Attempts in order that nobody in this process has taken; the caller holds the condition."""
        if state.phase is not Phase.RESEARCHING or self._core.stopped:
            return []
        return [one for one in state.attempts.values() if not one.stage.final and one.number not in self._core.claimed]


def end(
    core: Core,
    attempt: AttemptState,
    outcome: AttemptOutcome,
    failure: str,
    detail: str,
    used: Used,
    measured: events.Measured = _NOT_MEASURED,
) -> None:
    """Ends an attempt without a score and settles what it used, in the caller's change."""
    core.journal.append(
        events.AttemptEnded(attempt=attempt.number, outcome=outcome, failure=failure, detail=detail, measured=measured)
    )
    settle(core, attempt, outcome, used)


def settle(core: Core, attempt: AttemptState, outcome: AttemptOutcome, used: Used) -> None:
    """Charges what an attempt used; training that was finished is charged as recorded."""
    rule = ATTEMPT_RULES[outcome]
    trained = core.training_of(attempt.number)
    train_tokens = used.train_tokens if trained is None else trained.train_tokens
    if rule.charges:
        training = core.terms.pricing.training_micro_usd(train_tokens)
        sampling = core.terms.pricing.sampling_micro_usd(used.prompt_tokens, used.output_tokens)
    else:
        training = sampling = 0
    amounts = {Account.TRAINING: training, Account.SAMPLING: sampling, Account.ATTEMPTS: int(rule.uses_attempt)}
    core.ledger.settle(attempt.reservation, amounts)
