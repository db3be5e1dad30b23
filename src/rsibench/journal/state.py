"""RunState: what a run's events so far add up to.

Invariant: immutable, and equal for equal events. Built by `fold.py` only; whoever asks how far a run has come reads it
here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from rsibench.journal.balance import Balance
from rsibench.journal.events import RunPlanned
from rsibench.outcomes import AttemptOutcome, CallOutcome
from rsibench.spec.item import Split
from rsibench.spec.model_calls import CallUsage, ModelPrices, Wire
from rsibench.spec.recipe import RunConfig
from rsibench.spec.score import Score
from rsibench.store.holding import Holding
from rsibench.units import Account


class Phase(StrEnum):
    """How far a run has come. A run only ever moves downwards in this list."""

    EMPTY = "empty"
    """Nothing was recorded yet."""
    PREPARING = "preparing"
    """Planned; budget and base score are being made ready."""
    RESEARCHING = "researching"
    """The researcher may submit."""
    COMMITTED = "committed"
    """The selection is final; the official split is still closed."""
    OFFICIAL = "official"
    """The official split is open."""
    SEALED = "sealed"
    """The result is recorded; nothing follows."""


class Stage(StrEnum):
    """How far an attempt has come. The last three are final."""

    ADMITTED = "admitted"
    """Its cost is reserved; it waits for the trainer."""
    TRAINING = "training"
    """The trainer has it, perhaps again after an interruption."""
    TRAINED = "trained"
    """Its adapter exists; the evaluator has it or will."""
    SCORED = "scored"
    """It has a selection score and may be selected."""
    FAILED = "failed"
    """Infrastructure failed for good."""
    CANCELLED = "cancelled"
    """The run ended first."""

    @property
    def final(self) -> bool:
        """Whether nothing more can happen to the attempt."""
        return self in (Stage.SCORED, Stage.FAILED, Stage.CANCELLED)


class Decision(StrEnum):
    """What became of a submission."""

    PENDING = "pending"
    """Nobody has decided yet."""
    REFUSED = "refused"
    """It has problems; nothing was spent."""
    REPLICATED = "replicated"
    """It repeats an attempt byte for byte."""
    ADMITTED = "admitted"
    """It became an attempt."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Units set aside under a key, and once settled what was spent of them."""

    key: str
    amounts: Mapping[Account, int]
    holding: Holding = Holding.RESERVED
    spent: Mapping[Account, int] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class BaseResult:
    """The base student's score on one split."""

    trials_blob: str
    score: Score


@dataclass(frozen=True, slots=True)
class SubmissionState:
    """One submission: its files by hash, and what became of it. `attempt` is the one it became or repeats."""

    number: int
    rows_blob: str
    config_blob: str
    hypothesis_blob: str
    digest: str
    idempotency_key: str
    decision: Decision = Decision.PENDING
    attempt: int | None = None
    problems_blob: str | None = None
    incidents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttemptState:
    """One attempt. What is None has not happened yet; `failure` is set when it ended without a score."""

    number: int
    submission: int
    submission_digest: str
    reservation: str
    config: RunConfig
    rows: int
    train_tokens: int
    stage: Stage = Stage.ADMITTED
    adapter_sha256: str | None = None
    adapter_blob: str | None = None
    near_noop: bool | None = None
    trials_blob: str | None = None
    score: Score | None = None
    failure: str | None = None
    feedback_blob: str | None = None

    @property
    def rate(self) -> float | None:
        """The selection rate, None without a score or when it is withheld."""
        return None if self.score is None else self.score.rate

    @property
    def outcome(self) -> AttemptOutcome | None:
        """How the attempt ended, None while it has not."""
        return AttemptOutcome(self.stage.value) if self.stage.final else None


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of an attempt, or of the base student when `attempt` is None. `rule` is None while only proposed."""

    attempt: int | None
    rule: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class OfficialResult:
    """The committed checkpoint's score on the official split."""

    attempt: int | None
    trials_blob: str
    score: Score


@dataclass(frozen=True, slots=True)
class Incident:
    """Something forbidden that was tried, or something odd that was seen, and the event that says so."""

    seq: int
    incident: str
    detail: str


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call of an outside model that is not over."""

    number: int
    account: Account
    reservation: str
    wire: Wire
    model: str


@dataclass(frozen=True, slots=True)
class CallTotals:
    """Calls of one model on one account that are over: how they ended, what they used and what was charged."""

    outcomes: Mapping[CallOutcome, int] = field(default_factory=lambda: MappingProxyType({}))
    usage: CallUsage = field(default_factory=CallUsage)
    cost_micro_usd: int = 0
    charged_micro_usd: int = 0

    @property
    def calls(self) -> int:
        """How many there were."""
        return sum(self.outcomes.values())


@dataclass(frozen=True, slots=True)
class Calls:
    """All calls of outside models. `prices` are by account, `totals` by account and model."""

    prices: Mapping[Account, ModelPrices] = field(default_factory=lambda: MappingProxyType({}))
    count: int = 0
    open: Mapping[int, OpenCall] = field(default_factory=lambda: MappingProxyType({}))
    totals: Mapping[tuple[Account, str], CallTotals] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class RunState:
    """Everything known about a run. Numbers of submissions, attempts and researcher processes start at 1."""

    run_id: str
    seq: int = 0
    elapsed_ms: int = 0
    phase: Phase = Phase.EMPTY
    interrupted: bool = False
    """Stopped in an orderly way; only `run.resumed` may follow."""
    plan: RunPlanned | None = None
    balances: Mapping[Account, Balance] = field(default_factory=lambda: MappingProxyType({}))
    reservations: Mapping[str, Reservation] = field(default_factory=lambda: MappingProxyType({}))
    base: Mapping[Split, BaseResult] = field(default_factory=lambda: MappingProxyType({}))
    researchers_started: int = 0
    researcher_running: bool = False
    submissions: Mapping[int, SubmissionState] = field(default_factory=lambda: MappingProxyType({}))
    attempts: Mapping[int, AttemptState] = field(default_factory=lambda: MappingProxyType({}))
    student_weights_sha256: str | None = None
    """The base weights every attempt was trained from; None before the first was."""
    proposed: Selection | None = None
    committed: Selection | None = None
    official: OfficialResult | None = None
    result_blob: str | None = None
    incidents: tuple[Incident, ...] = ()
    calls: Calls = Calls()

    @property
    def limits(self) -> dict[Account, int]:
        """Every account's limit in its smallest unit; empty before the budget was opened."""
        return {account: balance.limit for account, balance in self.balances.items()}

    @property
    def sealed(self) -> bool:
        """Whether the run is over."""
        return self.phase is Phase.SEALED

    @property
    def best_attempt(self) -> AttemptState | None:
        """The scored attempt with the best selection rate, the earliest of equals; withheld scores do not count."""
        best: AttemptState | None = None
        for attempt in self.attempts.values():
            rate, best_rate = attempt.rate, None if best is None else best.rate
            if rate is not None and (best_rate is None or rate > best_rate):
                best = attempt
        return best
