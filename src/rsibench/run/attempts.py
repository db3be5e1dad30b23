"""The attempt loop: the one thread that trains and scores admitted attempts, in order.

An infrastructure failure is tried once more from the start; the second one ends the attempt as failed, never as a zero.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from rsibench.errors import InfrastructureFailure, IntegrityError
from rsibench.ids import sha256_file
from rsibench.journal.events import Measured, TrainingFinished
from rsibench.lab.attempts import AttemptWork
from rsibench.lab.core import Used
from rsibench.run.context import RunContext
from rsibench.run.engine import TrainOrder
from rsibench.run.evaluate import evaluate
from rsibench.spec.item import Trial
from rsibench.training.result import TrainProgress
from rsibench.units import MILLISECONDS_PER_SECOND

ADAPTER_WEIGHTS = "adapter_model.safetensors"
_TRIES = 2
_HOPELESS = frozenset({"training_diverged"})
"""Failures that the same data and configuration would only repeat."""
_IDLE_SECONDS = 1.0


class AttemptLoop:
    """Runs while its block does. `error` holds what ended it before its time; the owner must look."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="attempts", daemon=True)
        self.error: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._stopping.set()
        self._context.session.stop()
        self._context.engine.cancel()
        self._thread.join()

    def _run(self) -> None:
        session = self._context.session
        try:
            while not self._stopping.is_set():
                work = session.claim_next()
                if work is None:
                    session.wait_for_work(_IDLE_SECONDS)
                else:
                    self._work(work)
                    self._context.progress.begin("waiting for a submission")
        except BaseException as error:
            self.error = error

    def _work(self, work: AttemptWork) -> None:
        """One attempt to its end, with a second try after an infrastructure failure."""
        for last in (number == _TRIES for number in range(1, _TRIES + 1)):
            try:
                self._try(work)
            except InfrastructureFailure as failure:
                if self._stopping.is_set() or self._context.session.is_over(work.attempt):
                    return
                if last or failure.failure in _HOPELESS:
                    self._context.session.failed(work.attempt, failure=failure.failure, detail=str(failure))
            else:
                return

    def _try(self, work: AttemptWork) -> None:
        trained = work.trained or self._train(work)
        if trained is None:
            return
        context, number = self._context, work.attempt
        adapter = checked_adapter(context, number, trained.adapter_sha256)
        context.progress.begin("scoring", attempt=number, total=len(context.planned.selection), unit="items")
        done = evaluate(context, context.planned.selection, adapter, lambda trials: self._scoring(work, trials))
        context.pace.evaluated(done.seconds)
        measured = Measured(wall_ms=int(done.seconds * MILLISECONDS_PER_SECOND))
        context.session.scored(number, done.trials_blob, done.score, measured)

    def _train(self, work: AttemptWork) -> TrainingFinished | None:
        """Trains from the base student; None when the attempt was cancelled meanwhile."""
        context, number = self._context, work.attempt
        if not context.session.training_started(number):
            return None
        out = context.folder.adapter(number)
        shutil.rmtree(out, ignore_errors=True)
        order = TrainOrder(
            rows=[row.rendered for row in work.rows],
            recipe=context.planned.lock.protocol.recipe,
            config=work.config,
            seed=context.planned.lock.run.seed,
            out=out,
            state=context.folder.kept_training(number),
        )
        context.progress.begin("training", attempt=number, total=work.train_tokens, unit="tokens")
        trained = context.engine.train(order, lambda step: self._stepped(work, step))
        context.pace.trained(trained.train_tokens, trained.wall_seconds)
        weights = out / ADAPTER_WEIGHTS
        finished = TrainingFinished(
            attempt=number,
            adapter_sha256=trained.adapter.sha256,
            adapter_blob=context.blobs.put_file(weights),
            student_weights_sha256=context.planned.student.digest.weights_sha256,
            steps=trained.steps,
            train_tokens=trained.train_tokens,
            loss_tokens=trained.loss_tokens,
            first_loss=trained.first_loss,
            last_loss=trained.last_loss,
            delta_norm=trained.adapter.delta_norm,
            near_noop=trained.near_noop,
            measured=Measured(
                wall_ms=int(trained.wall_seconds * MILLISECONDS_PER_SECOND),
                peak_rss_bytes=trained.peak_rss_bytes,
                tokens_per_second=trained.tokens_per_second,
            ),
        )
        recorded = context.session.training_finished(finished)
        shutil.rmtree(context.folder.kept_training(number), ignore_errors=True)
        return finished if recorded else None

    def _stepped(self, work: AttemptWork, step: TrainProgress) -> None:
        context = self._context
        context.progress.advance(step.tokens, note=f"loss {step.loss:.3f}")
        context.session.used(work.attempt, Used(train_tokens=step.tokens))
        self._stop_if_over(work)

    def _scoring(self, work: AttemptWork, trials: list[Trial]) -> None:
        used = Used(
            train_tokens=work.train_tokens,
            prompt_tokens=sum(trial.prompt_tokens for trial in trials),
            output_tokens=sum(trial.output_tokens for trial in trials),
        )
        self._context.session.used(work.attempt, used)
        self._stop_if_over(work)

    def _stop_if_over(self, work: AttemptWork) -> None:
        if self._stopping.is_set() or self._context.session.is_over(work.attempt):
            self._context.engine.cancel()
            raise InfrastructureFailure("the attempt was cancelled", failure="cancelled")


def checked_adapter(context: RunContext, number: int, sha256: str) -> Path:
    """The adapter folder of an attempt, after its weights were hashed again. Raises IntegrityError for other bytes."""
    folder = context.folder.adapter(number)
    weights = folder / ADAPTER_WEIGHTS
    found = sha256_file(weights) if weights.is_file() else "missing"
    if found != sha256:
        raise IntegrityError(
            f"the adapter's weights are {found}, but {sha256} was trained",
            where=str(weights),
            fix="restore the file from the blob of that name",
        )
    return folder
