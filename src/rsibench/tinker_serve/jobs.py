"""Futures: what was asked for, done one after another on one thread, and fetched later by its id.

Invariant: every job ends in exactly one answer, also when it fails; then the answer is an error with its category.
Answers are forgotten, the oldest first, once there are too many. Jobs of one model run in the order of their `seq_id`
(see `models`), whatever the order in which they arrived.
"""

from __future__ import annotations

import queue
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from typing import Literal, NamedTuple

from rsibench.errors import RsibenchError, SpecError

_KEPT_ANSWERS = 20_000
type Answer = bytes | dict[str, object]
"""A protobuf message or a JSON object."""
type Work = Callable[[], Answer]


class _Future:
    """One job's answer, once it is there."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer: Answer = {}


class Job(NamedTuple):
    """`batch` is set for sampling: jobs with an equal one that wait together are done together."""

    request_id: str
    work: Work
    batch: object = None


class Jobs:
    """The queue and its thread, which ends with `close`."""

    def __init__(self, together: Callable[[object, list[str]], None]) -> None:
        self._together = together
        self._queue: queue.Queue[Job | None] = queue.Queue()
        self._futures: OrderedDict[str, _Future] = OrderedDict()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="tinker-serve", daemon=True)
        self._thread.start()

    def open(self, request_id: str) -> bool:
        """Makes room for an answer; False when there is one already, so that a retried request is not done twice."""
        with self._lock:
            if request_id in self._futures:
                return False
            self._futures[request_id] = _Future()
            while len(self._futures) > _KEPT_ANSWERS:
                self._futures.popitem(last=False)
            return True

    def submit(self, job: Job) -> None:
        """Queues a job whose answer has room."""
        self._queue.put(job)

    def answer(self, request_id: str, wait_seconds: float) -> Answer | Literal["pending", "unknown"]:
        """The answer, if it comes within `wait_seconds`."""
        with self._lock:
            future = self._futures.get(request_id)
        if future is None:
            return "unknown"
        return future.answer if future.done.wait(wait_seconds) else "pending"

    def finish(self, request_id: str, answer: Answer) -> None:
        """Gives a job its answer."""
        with self._lock:
            future = self._futures.get(request_id)
        if future is not None:
            future.answer = answer
            future.done.set()

    def fail(self, request_id: str, error: Exception) -> None:
        """Gives a job its error: the client's fault when it is a SpecError, ours otherwise."""
        if not isinstance(error, RsibenchError):
            traceback.print_exception(error)
        category = "user" if isinstance(error, SpecError) else "server"
        self.finish(request_id, {"error": str(error) or type(error).__name__, "category": category})

    def close(self) -> None:
        """Ends the thread after the running job."""
        self._queue.put(None)
        self._thread.join()

    def _serve(self) -> None:
        waiting: Job | None = None
        while True:
            job = waiting or self._queue.get()
            waiting = None
            if job is None:
                return
            if job.batch is None:
                self._one(job)
                continue
            batch = [job]
            while waiting is None and not self._queue.empty():
                other = self._queue.get()
                if other is None:
                    self._queue.put(None)
                    break
                if other.batch == job.batch:
                    batch.append(other)
                else:
                    waiting = other
            self._many(job.batch, [each.request_id for each in batch])

    def _one(self, job: Job) -> None:
        try:
            self.finish(job.request_id, job.work())
        except Exception as error:
            self.fail(job.request_id, error)

    def _many(self, batch: object, request_ids: list[str]) -> None:
        try:
            self._together(batch, request_ids)
        except Exception as error:
            for request_id in request_ids:
                self.fail(request_id, error)
