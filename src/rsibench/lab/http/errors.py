"""Errors as HTTP answers: one JSON form for all of them, with the status that fits, and what is left of the budget.

Invariant: an answer holds what the researcher can act on, never a traceback, a path of the controller or anything of
the official split; what else went wrong goes to the controller's log.
"""

from __future__ import annotations

import logging

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import Field

from rsibench.errors import BudgetError, LabError, Problem, RsibenchError, SpecError, SubmissionRefused, UnknownPrice
from rsibench.lab.replies import Left
from rsibench.lab.session import Session
from rsibench.spec.frozen import Frozen

LOG = logging.getLogger("rsibench.lab")
_NOT_NOW = (408, 409, 429, 503)
_INTERNAL = "the lab failed for a reason of its own; the controller's log says more"


class ErrorBody(Frozen):
    """What went wrong. `counts` numbers every problem code of a refused submission, of which `problems` lists a part.

    `exit_code` is what a command line tool should end with.
    """

    code: str
    what: str
    where: str = ""
    fix: str = ""
    problems: tuple[Problem, ...] = ()
    counts: dict[str, int] = Field(default_factory=dict)
    exit_code: int


class ErrorReply(Frozen):
    """An error with what is left of the budget, which is null only when even that cannot be told."""

    error: ErrorBody
    left: Left | None


class ErrorAnswers:
    """Turns exceptions into answers; the methods are FastAPI exception handlers, run in a thread."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of_harness(self, _request: Request, error: Exception) -> Response:
        """Errors that the project raises on purpose."""
        if not isinstance(error, RsibenchError):
            return self.internal(error)
        told = {"what": error.what, "where": error.where, "fix": error.fix, "exit_code": error.exit_code}
        if isinstance(error, SubmissionRefused):
            problems = {"problems": error.problems, "counts": error.counts}
            return self.answer(422, ErrorBody.model_validate({"code": "refused"} | told | problems))
        if isinstance(error, LabError):
            wrong_request = {} if error.status in _NOT_NOW else {"exit_code": SpecError.exit_code}
            return self.answer(error.status, ErrorBody.model_validate({"code": error.code} | told | wrong_request))
        if isinstance(error, BudgetError):
            code = "unknown-price" if isinstance(error, UnknownPrice) else "budget-exceeded"
            return self.answer(402, ErrorBody.model_validate({"code": code} | told))
        if isinstance(error, SpecError):
            return self.answer(400, ErrorBody.model_validate({"code": "bad-request"} | told))
        return self.internal(error)

    def of_request(self, _request: Request, error: Exception) -> Response:
        """Requests of the wrong form."""
        problems = error.errors() if isinstance(error, RequestValidationError) else []
        first = problems[0] if problems else {"loc": (), "msg": "the request cannot be read"}
        where = ".".join(str(part) for part in first["loc"])
        body = ErrorBody(code="bad-request", what=str(first["msg"]), where=where, fix="see /openapi.json", exit_code=2)
        return self.answer(400, body)

    def of_path(self, _request: Request, _error: Exception) -> Response:
        """Unknown paths."""
        body = ErrorBody(code="no-such-path", what="there is nothing here", fix="see /openapi.json", exit_code=2)
        return self.answer(404, body)

    def of_method(self, _request: Request, _error: Exception) -> Response:
        """Known paths, other methods."""
        body = ErrorBody(code="no-such-method", what="the path has other methods", fix="see /openapi.json", exit_code=2)
        return self.answer(405, body)

    def internal(self, error: Exception) -> Response:
        """Anything else: logged in full, told in general."""
        LOG.error("a lab request failed", exc_info=error)
        return self.answer(500, ErrorBody(code="internal", what=_INTERNAL, fix="try again later", exit_code=7))

    def answer(self, status: int, body: ErrorBody) -> Response:
        """The answer itself, with what is left."""
        reply = ErrorReply(error=body, left=self._left())
        # Hanging up ends an upload that goes on although it was refused.
        hang_up = {"connection": "close"}
        return Response(reply.model_dump_json(), status_code=status, media_type="application/json", headers=hang_up)

    def _left(self) -> Left | None:
        try:
            return self._session.left()
        except RsibenchError as error:
            LOG.error("what is left of the budget cannot be told", exc_info=error)
            return None
