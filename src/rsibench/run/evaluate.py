"""Evaluates a checkpoint on a split: trials with progress, stored as a blob, and their score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from rsibench.evaluation.answer import AnswerEvaluator
from rsibench.evaluation.scoring import score_trials
from rsibench.run.context import RunContext
from rsibench.run.partial import PartialTrials, partial_key
from rsibench.run.trials import encode_trials
from rsibench.spec.item import Item, Trial
from rsibench.spec.score import Score


class Evaluated(NamedTuple):
    """A finished evaluation. `seconds` is measured, everything else repeats exactly."""

    trials_blob: str
    trials: tuple[Trial, ...]
    score: Score
    seconds: float


def evaluate(
    context: RunContext, items: Sequence[Item], adapter: Path | None, on_trial: Callable[[list[Trial]], None]
) -> Evaluated:
    """Trials of `items` by the base student (`adapter` None) or an adapter. Raises InfrastructureFailure.

    Continues after the last trial that an earlier process kept of this very evaluation.
    """
    protocol = context.planned.lock.protocol
    evaluator = AnswerEvaluator(
        sampler=context.engine.sampler(),
        renderer=context.planned.renderer,
        student=context.engine.student,
        decoding=protocol.decoding,
        system_prompt=protocol.system_prompt,
    )
    key = partial_key(context.planned.lock, items, adapter)
    with PartialTrials(context.folder.partial(key)) as partial:
        started = context.clock.monotonic() - partial.kept.seconds
        trials = list(partial.kept.trials)
        for trial in evaluator.evaluate(items, adapter, partial.kept.trials):
            partial.add(trial, context.clock.monotonic() - started)
            trials.append(trial)
            context.progress.advance(len(trials))
            on_trial(trials)
    data = encode_trials(trials, items)
    return Evaluated(
        trials_blob=context.blobs.put(data),
        trials=tuple(trials),
        score=score_trials(trials, protocol.coverage_gate),
        seconds=context.clock.monotonic() - started,
    )
