"""A refusal as it is recorded: what the researcher was told, kept as a blob so that it can be told again.

Invariant: the error rebuilt from a record says what the first one said. Only the gate's refusals are final for a
submission; the others depend on the moment, and the same files may be handed in again under the same key.
"""

from __future__ import annotations

from typing import Literal, Self

from rsibench.errors import (
    BudgetError,
    BudgetExceeded,
    LabError,
    Problem,
    RsibenchError,
    SubmissionRefused,
    UnknownPrice,
)
from rsibench.spec.frozen import Frozen


class Refusal(Frozen):
    """Why a submission was refused. `counts` numbers every problem code, listed or not."""

    kind: Literal["gate", "budget", "price", "lab"]
    code: str
    what: str
    where: str = ""
    fix: str = ""
    problems: tuple[Problem, ...] = ()
    counts: dict[str, int]

    @property
    def final(self) -> bool:
        """Whether the same files would be refused again whatever happens."""
        return self.kind == "gate"

    @property
    def incidents(self) -> tuple[str, ...]:
        """Classes of broken rules, each once."""
        return tuple(sorted({problem.incident for problem in self.problems if problem.incident is not None}))

    @classmethod
    def of(cls, error: SubmissionRefused | BudgetError | LabError) -> Self:
        """The record of an error."""
        if isinstance(error, SubmissionRefused):
            problems = tuple(error.problems)
            return cls(kind="gate", code="refused", what=error.what, problems=problems, counts=error.counts)
        if isinstance(error, LabError):
            kind, code = "lab", error.code
        elif isinstance(error, UnknownPrice):
            kind, code = "price", "unknown-price"
        else:
            kind, code = "budget", "budget-exceeded"
        told = {"what": error.what, "where": error.where, "fix": error.fix}
        return cls.model_validate({"kind": kind, "code": code, "counts": {code: 1}} | told)

    def error(self) -> RsibenchError:
        """The error that this record was made of."""
        if self.kind == "gate":
            return SubmissionRefused(self.problems, counts=self.counts)
        if self.kind == "lab":
            return LabError(self.what, code=self.code, where=self.where, fix=self.fix)
        kind = UnknownPrice if self.kind == "price" else BudgetExceeded
        return kind(self.what, where=self.where, fix=self.fix)
