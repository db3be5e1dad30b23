"""The events of a run: one class a kind, told apart by its Literal tag.

Invariant: an event holds nothing that differs between two runs with the same lock and seed, except under `measured`
(durations, process ids and other facts of the machine). Time stamps and hashes live in the envelope, see `envelope.py`.
Blobs are named by their SHA-256.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from rsibench.outcomes import AttemptOutcome, CallOutcome
from rsibench.spec.frozen import Frozen
from rsibench.spec.item import Split
from rsibench.spec.model_calls import CallUsage, ModelPrices, Wire
from rsibench.spec.recipe import RunConfig
from rsibench.spec.score import Score
from rsibench.spec.student import Sha256
from rsibench.units import Account


class Measured(Frozen):
    """Facts of the machine and the moment, left out when two journals are compared."""

    wall_ms: int | None = None
    peak_rss_bytes: int | None = None
    tokens_per_second: float | None = None
    cached: bool | None = None
    detail: str | None = None


class Event(Frozen):
    """Base of all events."""

    measured: Measured = Measured()


class RunPlanned(Event):
    """The lock was resolved; its digests are recorded before anything else happens."""

    kind: Literal["run.planned"] = "run.planned"
    protocol_digest: Sha256
    lock_blob: Sha256
    """The lock with its run, machine and code facts; differs between runs, so its digest is not compared."""
    profile: str
    variant: str
    researcher: str
    seed: int
    isolation: str


class BudgetOpened(Event):
    """Every account's limit, in its smallest unit."""

    kind: Literal["budget.opened"] = "budget.opened"
    limits: dict[Account, int]


class BudgetReserved(Event):
    """`amounts` were set aside under `key`, which is never used twice."""

    kind: Literal["budget.reserved"] = "budget.reserved"
    key: str
    amounts: dict[Account, int]


class BudgetSettled(Event):
    """What a reservation really cost; the rest went back. `amounts` never holds wall time, see `wall_units`."""

    kind: Literal["budget.settled"] = "budget.settled"
    key: str
    amounts: dict[Account, int]
    wall_units: int | None = None
    """Charged wall milliseconds, kept apart because they differ from run to run."""


class BudgetReleased(Event):
    """A reservation was given back unspent."""

    kind: Literal["budget.released"] = "budget.released"
    key: str


class BaseScored(Event):
    """The base student was scored on a split (once a protocol digest and machine kind; `measured.cached` tells)."""

    kind: Literal["base.scored"] = "base.scored"
    split: Split
    trials_blob: Sha256
    score: Score


class ResearchStarted(Event):
    """The researcher may work from here on; the wall-clock budget runs."""

    kind: Literal["research.started"] = "research.started"


class ResearcherStarted(Event):
    """The researcher's process was started, for the first time or again after an early stop."""

    kind: Literal["researcher.started"] = "researcher.started"
    number: int


class ResearcherExited(Event):
    """The researcher's process ended. Its exit code never decides whether the run is valid."""

    kind: Literal["researcher.exited"] = "researcher.exited"
    number: int
    exit_code: int | None
    stopped_by_controller: bool
    api_error: bool = False
    """The model API failed for good: not the agent's fault, so it is no early stop."""


class SubmissionReceived(Event):
    """A submission's three files were stored by hash, before anybody looked at them."""

    kind: Literal["submission.received"] = "submission.received"
    submission: int
    rows_blob: Sha256
    config_blob: Sha256
    hypothesis_blob: Sha256
    submission_digest: Sha256
    """Over rows and resolved configuration bytes; equal digests are replicates."""
    idempotency_key: str


class SubmissionRefused(Event):
    """A submission was refused whole; nothing was spent."""

    kind: Literal["submission.refused"] = "submission.refused"
    submission: int
    problems_blob: Sha256
    problem_codes: dict[str, int]
    incidents: tuple[str, ...]


class SubmissionReplicated(Event):
    """A byte-identical submission: it points at the attempt it repeats and is never a new candidate."""

    kind: Literal["submission.replicated"] = "submission.replicated"
    submission: int
    attempt: int


class AttemptAdmitted(Event):
    """A submission became an attempt: its cost is reserved and it waits for the trainer."""

    kind: Literal["attempt.admitted"] = "attempt.admitted"
    attempt: int
    submission: int
    rows: int
    row_tokens: int
    loss_tokens: int
    train_tokens: int
    config: RunConfig
    reservation: str


class TrainingStarted(Event):
    """Training of an attempt began (again, after an interruption)."""

    kind: Literal["training.started"] = "training.started"
    attempt: int


class TrainingFinished(Event):
    """An adapter exists. `near_noop` labels one whose weights hardly moved."""

    kind: Literal["training.finished"] = "training.finished"
    attempt: int
    adapter_sha256: Sha256
    adapter_blob: Sha256
    student_weights_sha256: Sha256
    steps: int
    train_tokens: int
    loss_tokens: int
    first_loss: float
    last_loss: float
    delta_norm: float
    near_noop: bool


class AttemptScored(Event):
    """An attempt was evaluated on the selection split."""

    kind: Literal["attempt.scored"] = "attempt.scored"
    attempt: int
    trials_blob: Sha256
    score: Score


class AttemptEnded(Event):
    """An attempt ended without a score: failed infrastructure, or cancelled because the run ended."""

    kind: Literal["attempt.ended"] = "attempt.ended"
    attempt: int
    outcome: AttemptOutcome
    failure: str
    detail: str


class FeedbackReleased(Event):
    """What the researcher was given about an attempt, at the profile's level."""

    kind: Literal["feedback.released"] = "feedback.released"
    attempt: int
    feedback_blob: Sha256


class SelectionProposed(Event):
    """The researcher named the attempt it wants (None keeps the base student); it may change until it is committed."""

    kind: Literal["selection.proposed"] = "selection.proposed"
    attempt: int | None


class SelectionCommitted(Event):
    """The choice is final. Only after this event may the official split be opened."""

    kind: Literal["selection.committed"] = "selection.committed"
    attempt: int | None
    rule: Literal["explicit", "best-selection-score-earliest"]
    reason: str
    """What closed the run: `researcher`, `budget`, `final-window`, `researcher-ended` or `operator`."""


class OfficialOpened(Event):
    """The official split was opened, once."""

    kind: Literal["official.opened"] = "official.opened"


class OfficialScored(Event):
    """The committed checkpoint was scored on the official split."""

    kind: Literal["official.scored"] = "official.scored"
    attempt: int | None
    trials_blob: Sha256
    score: Score


class RunSealed(Event):
    """The run is over; nothing may follow. `result_blob` holds the printed result, which names the run."""

    kind: Literal["run.sealed"] = "run.sealed"
    result_blob: Sha256


class RunInterrupted(Event):
    """The controller stopped in an orderly way (Ctrl-C, a signal) and can be resumed."""

    kind: Literal["run.interrupted"] = "run.interrupted"
    reason: str


class RunResumed(Event):
    """A controller took the run up again."""

    kind: Literal["run.resumed"] = "run.resumed"


class CallsPriced(Event):
    """The prices at which calls of outside models are charged to `account`, recorded before the first of them."""

    kind: Literal["calls.priced"] = "calls.priced"
    account: Account
    prices: ModelPrices


class CallReserved(Event):
    """A call of an outside model is about to be sent; the most it can cost is set aside under `reservation`.

    `model` is the name that was asked for and is priced, `upstream_model` the one that the provider is asked for;
    `effort`, `max_output_tokens` and `read_tokens` (a bound) are those of the request as sent. `dropped` names what
    was taken out of the request.
    """

    kind: Literal["call.reserved"] = "call.reserved"
    call: int
    account: Account
    reservation: str
    wire: Wire
    model: str
    upstream_model: str
    effort: str | None
    read_tokens: int
    max_output_tokens: int
    capped: bool
    """Whether the budget allowed less output than was asked for."""
    dropped: tuple[str, ...] = ()


class CallSettled(Event):
    """A call is over. `cost_micro_usd` follows from `outcome`, `usage` and the recorded prices.

    `charged_micro_usd` is less only when the provider used more than the reservation's bound and the account had no
    more to give. `texts_sha256` are the answers of a rollout, so that rows made from them can be recognised.
    """

    kind: Literal["call.settled"] = "call.settled"
    call: int
    outcome: CallOutcome
    status: int | None
    """The provider's HTTP status, None when there was none."""
    model_answered: str | None
    usage: CallUsage | None
    cost_micro_usd: int
    charged_micro_usd: int
    texts_sha256: tuple[Sha256, ...] = ()


class IncidentRecorded(Event):
    """Somebody tried something forbidden, or something odd was seen. Data, never a crash."""

    kind: Literal["incident.recorded"] = "incident.recorded"
    incident: str
    detail: str


AnyEvent = Annotated[
    RunPlanned
    | BudgetOpened
    | BudgetReserved
    | BudgetSettled
    | BudgetReleased
    | BaseScored
    | ResearchStarted
    | ResearcherStarted
    | ResearcherExited
    | SubmissionReceived
    | SubmissionRefused
    | SubmissionReplicated
    | AttemptAdmitted
    | TrainingStarted
    | TrainingFinished
    | AttemptScored
    | AttemptEnded
    | FeedbackReleased
    | SelectionProposed
    | SelectionCommitted
    | OfficialOpened
    | OfficialScored
    | RunSealed
    | RunInterrupted
    | RunResumed
    | CallsPriced
    | CallReserved
    | CallSettled
    | IncidentRecorded,
    Field(discriminator="kind"),
]

EVENT: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)
"""Reads any event from its JSON form."""
