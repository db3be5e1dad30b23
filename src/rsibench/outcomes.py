"""Closed tables of outcomes: what each one means for retrying, for the denominator and for money.

Invariant: an infrastructure failure is never a zero and never silently leaves the denominator; it is an outcome of its
own. Nothing outside these tables may decide how a trial counts.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class TrialOutcome(StrEnum):
    """How one decode of one task ended."""

    PASS = "pass"  # noqa: S105 - the verdict's name, not a password
    """The verifier accepted the answer."""
    FAIL = "fail"
    """The verifier read an answer and rejected it."""
    NO_ANSWER = "no_answer"
    """The student wrote something from which no single answer can be extracted. Counts as wrong."""
    AGENT_TIMEOUT = "agent_timeout"
    """Time ran out after the student had answered at least once. Counts as wrong unless verified otherwise."""
    INFRA_ERROR = "infra_error"
    """Something other than the student failed. Does not count; lowers coverage and widens the bounds."""
    INVALID = "invalid"
    """The task or its environment is broken. Does not count; the task is reported."""


class FinishReason(StrEnum):
    """Why a completion ended."""

    STOP = "stop"
    """A stop token was produced; it is not part of the completion's tokens."""
    LENGTH = "length"
    """The limit of new tokens was reached first."""


class AttemptOutcome(StrEnum):
    """How a submission's way through gate, training and evaluation ended."""

    SCORED = "scored"
    """Trained and evaluated; it may be selected."""
    REFUSED = "refused"
    """The gate or the budget said no before anything was spent."""
    FAILED = "failed"
    """Infrastructure failed for good; what was really used is settled, the rest returned."""
    CANCELLED = "cancelled"
    """The run ended before the attempt did."""


class CallOutcome(StrEnum):
    """How one call of an outside model ended."""

    ANSWERED = "answered"
    """An answer came with its usage."""
    UNREPORTED = "unreported"
    """An answer came without usage, or with tokens of a kind that has no price."""
    BROKEN = "broken"
    """The answer began and broke off, or could not be read; its usage is estimated."""
    SILENT = "silent"
    """The request was sent and nothing came back; whether it was billed cannot be known."""
    REJECTED = "rejected"
    """The provider answered with an error status, which it does not bill."""
    UNREACHABLE = "unreachable"
    """No connection could be made, so nothing was sent."""
    ABANDONED = "abandoned"
    """The run closed before the call was over."""
    LOST = "lost"
    """The controller died while the call was going on."""


class CallCharge(StrEnum):
    """What a call costs."""

    USAGE = "usage"
    """The usage that its event holds, at the recorded prices."""
    RESERVATION = "reservation"
    """All that was reserved: never less than what may have been billed, as far as the reservation's bound holds."""
    NOTHING = "nothing"
    """Nothing."""


class TrialRule(NamedTuple):
    """What an outcome implies: a fresh retry, a place in the denominator, a charge for tokens really used."""

    retry: bool
    counts: bool
    charges: bool


class AttemptRule(NamedTuple):
    """What an outcome implies: may it be selected, does it use up an attempt, is real use charged."""

    selectable: bool
    uses_attempt: bool
    charges: bool


TRIAL_RULES: dict[TrialOutcome, TrialRule] = {
    TrialOutcome.PASS: TrialRule(retry=False, counts=True, charges=True),
    TrialOutcome.FAIL: TrialRule(retry=False, counts=True, charges=True),
    TrialOutcome.NO_ANSWER: TrialRule(retry=False, counts=True, charges=True),
    TrialOutcome.AGENT_TIMEOUT: TrialRule(retry=False, counts=True, charges=True),
    TrialOutcome.INFRA_ERROR: TrialRule(retry=True, counts=False, charges=True),
    TrialOutcome.INVALID: TrialRule(retry=False, counts=False, charges=True),
}

ATTEMPT_RULES: dict[AttemptOutcome, AttemptRule] = {
    AttemptOutcome.SCORED: AttemptRule(selectable=True, uses_attempt=True, charges=True),
    AttemptOutcome.REFUSED: AttemptRule(selectable=False, uses_attempt=False, charges=False),
    AttemptOutcome.FAILED: AttemptRule(selectable=False, uses_attempt=False, charges=True),
    AttemptOutcome.CANCELLED: AttemptRule(selectable=False, uses_attempt=False, charges=True),
}

CALL_CHARGES: dict[CallOutcome, CallCharge] = {
    CallOutcome.ANSWERED: CallCharge.USAGE,
    CallOutcome.UNREPORTED: CallCharge.RESERVATION,
    CallOutcome.BROKEN: CallCharge.USAGE,
    CallOutcome.SILENT: CallCharge.RESERVATION,
    CallOutcome.REJECTED: CallCharge.NOTHING,
    CallOutcome.UNREACHABLE: CallCharge.NOTHING,
    CallOutcome.ABANDONED: CallCharge.RESERVATION,
    CallOutcome.LOST: CallCharge.RESERVATION,
}
