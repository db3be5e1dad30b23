"""The exception tree: every error says what happened, where, and what to do; its class decides the exit code.

    RsibenchError                       1
      SpecError                         2   a profile, configuration or command that cannot be accepted
      EnvironmentFault                  3   this machine lacks something: a library, the student, a writable store
      IntegrityError                    4   recorded evidence does not agree with itself
      BudgetError                       5
        BudgetExceeded                      a reservation is larger than what is left
        UnknownPrice                        nothing may be spent at an unknown price
      SubmissionRefused                 6   a submission with problems, all of them listed
      InfrastructureFailure             7   a worker, sandbox or service failed; never a score
      LabError                          8   a lab request that the state of the run does not allow

An infrastructure failure is data for the run (an outcome), so it crosses layers as an exception only up to the attempt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


class RsibenchError(Exception):
    """Base of all errors that the project raises on purpose."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text} ({self.fix})" if self.fix else text


class SpecError(RsibenchError):
    """A profile, recipe, lock, command or configuration is not acceptable as written."""

    exit_code = 2


class EnvironmentFault(RsibenchError):
    """This machine cannot do what was asked: a missing library, file, permission or network."""

    exit_code = 3


class IntegrityError(RsibenchError):
    """Recorded evidence contradicts itself: a broken hash chain, a changed blob, an impossible balance."""

    exit_code = 4


class BudgetError(RsibenchError):
    """Money, time or attempts do not allow what was asked."""

    exit_code = 5


class BudgetExceeded(BudgetError):
    """A reservation asks for more than the account has left."""


class UnknownPrice(BudgetError):
    """No price is known for a model or an activity, so nothing may be spent on it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a submission is refused. `row` is 1-based; `incident` names a class when rules were broken."""

    code: str
    why: str
    fix: str
    file: str = "train_messages.jsonl"
    row: int | None = None
    field: str | None = None
    incident: str | None = None


class SubmissionRefused(RsibenchError):
    """A submission was refused whole; `problems` lists the reasons, `counts` every code with its number."""

    exit_code = 6

    def __init__(self, problems: Sequence[Problem], counts: Mapping[str, int] | None = None) -> None:
        first = problems[0]
        self.counts = dict(counts) if counts is not None else dict(Counter(problem.code for problem in problems))
        super().__init__(
            f"submission refused for {sum(self.counts.values())} reason(s); the first: {first.why}",
            where=f"{first.file}:{first.row}" if first.row is not None else first.file,
            fix=first.fix,
        )
        self.problems = tuple(problems)


class InfrastructureFailure(RsibenchError):
    """Something else than student and researcher failed. `failure` is a class of it, such as `out_of_memory`."""

    exit_code = 7

    def __init__(self, what: str, *, failure: str, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.failure = failure


class LabError(RsibenchError):
    """A lab request that cannot be served now. `code` is stable and machine readable; `status` is the HTTP status."""

    exit_code = 8

    def __init__(self, what: str, *, code: str, status: int = 409, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.code = code
        self.status = status
