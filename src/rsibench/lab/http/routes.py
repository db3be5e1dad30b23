"""The routes of the lab: each reads a request, asks the Session in a thread, and answers with a Reply.

Invariant: nothing here decides anything. Long waits and gating have threads of their own, so that a status request
never queues behind them.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi import Path as PathParameter

from rsibench.errors import LabError
from rsibench.lab.http.errors import ErrorReply
from rsibench.lab.http.upload import Lengths, received
from rsibench.lab.replies import FeedbackReply, SelectReply, StatusReply, SubmitReply, WaitReply
from rsibench.lab.session import Session
from rsibench.spec.frozen import Frozen
from rsibench.spec.profile import DataPolicy

MAX_WAIT_SECONDS = 60.0
_WAITERS = 32
_SUBMITTERS = 2
_BODY = {
    "required": True,
    "description": "train_messages.jsonl, run_config.json and hypothesis.md one after the other, without separators",
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}

Bytes = Annotated[int, Query(ge=0)]
OptionalBytes = Annotated[int | None, Query(ge=0)]
AttemptNumber = Annotated[int, PathParameter(ge=0, le=1_000_000)]


class SelectionRequest(Frozen):
    """The attempt to select, null for the base student; `final` commits and ends the research."""

    attempt: int | None
    final: bool = False


class Routes:
    """Handlers over one Session. `spool` is where uploads are kept while they are read; None is the system's place."""

    def __init__(self, session: Session, data: DataPolicy, spool: Path | None) -> None:
        self._session = session
        self._data = data
        self._spool = spool
        self._waiters = ThreadPoolExecutor(_WAITERS, thread_name_prefix="lab-wait")
        self._submitters = ThreadPoolExecutor(_SUBMITTERS, thread_name_prefix="lab-submit")
        self._waiting = 0

    def router(self) -> APIRouter:
        """All routes under /v1."""
        errors: dict[int | str, dict[str, Any]] = {
            status: {"model": ErrorReply} for status in (400, 402, 403, 404, 408, 409, 422, 429, 500, 501, 503)
        }
        router = APIRouter(prefix="/v1", responses=errors)
        router.add_api_route("/status", self.status, methods=["GET"])
        body = {"requestBody": _BODY}
        router.add_api_route("/submissions", self.submit, methods=["POST"], openapi_extra=body)
        router.add_api_route("/attempts/{attempt}/wait", self.wait, methods=["GET"])
        router.add_api_route("/attempts/{attempt}/feedback", self.feedback, methods=["GET"])
        router.add_api_route("/selection", self.select, methods=["POST"])
        router.add_api_route("/rollouts", self.rollout, methods=["POST"], status_code=501)
        return router

    def close(self) -> None:
        """Lets go of the threads; the Session must have been stopped, so that nobody waits in them."""
        self._waiters.shutdown(wait=False, cancel_futures=True)
        self._submitters.shutdown(wait=False, cancel_futures=True)

    def status(self) -> StatusReply:
        """Attempts, scores, selection and what is left."""
        return self._session.status()

    async def submit(
        self,
        request: Request,
        rows_bytes: Bytes,
        idempotency_key: Annotated[str, Header(max_length=128)],
        config_bytes: OptionalBytes = None,
        hypothesis_bytes: OptionalBytes = None,
    ) -> SubmitReply:
        """Hands in a submission. Safe to repeat: the same key with the same bytes has one effect.

        The lengths in the query say where one file ends and the next begins; leave out the length of a file that is not
        handed in. Answers when the submission is admitted or refused, not when it is scored.
        """
        lengths = Lengths(rows_bytes, config_bytes, hypothesis_bytes)
        async with received(request.stream(), lengths, self._data, self._spool) as files:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._submitters, self._session.submit, files, idempotency_key)

    async def wait(
        self, attempt: AttemptNumber, timeout_seconds: Annotated[float, Query(ge=0, le=MAX_WAIT_SECONDS)] = 0.0
    ) -> WaitReply:
        """Waits until an attempt is over, at most a minute at a time; repeat it as often as needed."""
        if self._waiting >= _WAITERS:
            why = f"{_WAITERS} requests are waiting already"
            raise LabError(why, code="busy", status=429, fix="wait with fewer requests at once")
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._waiters, self._session.wait, attempt, timeout_seconds)
        finally:
            self._waiting -= 1

    def feedback(self, attempt: AttemptNumber) -> FeedbackReply:
        """What is told about an attempt; 0 is the base student."""
        return self._session.feedback(attempt)

    def select(self, choice: SelectionRequest) -> SelectReply:
        """Chooses an attempt or the base student, once and for all when `final`."""
        return self._session.select(choice.attempt, final=choice.final)

    def rollout(self) -> None:
        """Not available in this profile."""
        self._session.rollout()
