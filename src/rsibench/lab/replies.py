"""What the lab answers: frozen models, the same for Python callers, for HTTP and for the `lab` command's `--json`.

Invariant: every reply says what is left of the budget, in seconds, dollars and attempts. Numbers are for reading; what
is exact to the last unit is the ledger.
"""

from __future__ import annotations

from enum import StrEnum

from rsibench.journal.state import Phase, Stage
from rsibench.lab.feedback import Feedback, ScoreView
from rsibench.spec.frozen import Frozen
from rsibench.spec.profile import FeedbackLevel
from rsibench.spec.recipe import RunConfig


class Left(Frozen):
    """What can still be used. `submit_seconds` ends where the final window begins."""

    seconds: float
    submit_seconds: float
    attempts: int
    training_usd: float
    sampling_usd: float
    researcher_usd: float
    rollout_usd: float


class Reply(Frozen):
    """Base of all replies."""

    left: Left


class AttemptView(Frozen):
    """One attempt. `score` is None until it is scored; `failure` says what broke when it ended without a score."""

    attempt: int
    submission: int
    stage: Stage
    rows: int
    train_tokens: int
    config: RunConfig
    score: ScoreView | None
    near_noop: bool | None
    failure: str | None
    training_usd: float
    """Charged, or reserved while the attempt is not over."""
    sampling_usd: float


class SelectionView(Frozen):
    """The researcher's choice. `chosen` tells a choice of the base student (`attempt` null) from no choice at all."""

    chosen: bool
    committed: bool
    attempt: int | None
    rule: str | None


class StatusReply(Reply):
    """Where the run stands. `base` is the base student's score on the selection split."""

    run_id: str
    profile: str
    variant: str
    phase: Phase
    feedback_level: FeedbackLevel
    base: ScoreView | None
    attempts: tuple[AttemptView, ...]
    submissions: int
    refused: int
    selection: SelectionView


class SubmissionOutcome(StrEnum):
    """What became of a submission that was not refused."""

    ADMITTED = "admitted"
    """It became a new attempt."""
    REPLICATED = "replicated"
    """Rows and configuration repeat an attempt byte for byte: this is that attempt, and nothing was spent."""


class SubmitReply(Reply):
    """A submission that was not refused, and the attempt it became or repeats."""

    submission: int
    outcome: SubmissionOutcome
    attempt: int
    stage: Stage
    rows: int
    train_tokens: int


class WaitReply(Reply):
    """An attempt after waiting. `finished` is False when the time ran out first: wait again."""

    attempt: int
    stage: Stage
    finished: bool
    view: AttemptView


class FeedbackReply(Reply):
    """The feedback document of an attempt, or of the base student as attempt 0."""

    feedback: Feedback


class SelectReply(Reply):
    """The choice as it now stands."""

    selection: SelectionView
