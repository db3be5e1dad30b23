"""The SFT loop, written once for every trainer: order of batches, learning rates, token account, losses.

Invariant: it trains on exactly the planned batches and counts exactly `config.epochs` times the rows' tokens, also when
it goes on from a kept state. It is not a trainer: it never sees a weight or a gradient and imports no machine-learning
library.
"""

from __future__ import annotations

import math
import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from rsibench.errors import InfrastructureFailure
from rsibench.ports.clock import Clock, SystemClock
from rsibench.ports.trainer import LoraSpec, StepResult, TokenExample, Trainer
from rsibench.rendering.renderer import RenderedRow
from rsibench.spec.recipe import Recipe, RunConfig
from rsibench.training.kept import KeptState, StateFolder, TakenUp, training_digest
from rsibench.training.plan import StepsPlan, plan_steps
from rsibench.training.result import TrainingResult, TrainProgress
from rsibench.training.rows import to_example
from rsibench.training.schedule import adam_for

EDGE_STEPS = 5
"""How many steps the first and the last loss are means of (fewer when there are fewer)."""

OnProgress = Callable[[TrainProgress], None]


def lora_for(recipe: Recipe, config: RunConfig) -> LoraSpec:
    """The adapter's shape under `recipe` with the submission's rank."""
    shape = recipe.lora
    return LoraSpec(config.lora_rank, shape.alpha, shape.targets, shape.top_layers)


def train(
    trainer: Trainer,
    student: Path,
    rows: Sequence[RenderedRow],
    recipe: Recipe,
    config: RunConfig,
    seed: int,
    out_dir: Path,
    on_progress: OnProgress | None = None,
    clock: Clock | None = None,
    state: StateFolder | None = None,
) -> TrainingResult:
    """Trains a fresh adapter on the base student and exports it to `out_dir`; `trainer` is opened and closed here.

    With `state`, the training is kept in that folder every few steps and goes on from what it holds when that is of the
    same training; the adapter has the bytes it would have had undisturbed. The folder stays afterwards,
    for whoever recorded the result to remove.

    SpecError when rows or configuration cannot be trained on; InfrastructureFailure `training_diverged` when a loss
    stops being a number. Whatever `on_progress` raises ends the training.
    """
    clock = clock or SystemClock()
    examples = [to_example(row) for row in rows]
    plan = plan_steps([len(row.token_ids) for row in rows], recipe, config, seed)
    started = clock.monotonic()
    trainer.open(student, lora_for(recipe, config), seed)
    try:
        kept = KeptState(state, training_digest(trainer, student, rows, recipe, config, seed)) if state else None
        begun = kept.take_up(trainer, plan.steps) if kept is not None else TakenUp()
        losses, loss_tokens = _steps(trainer, examples, plan, recipe, config, on_progress, clock, begun, kept)
        adapter = trainer.export_sampler(out_dir)
    finally:
        trainer.close()
    wall_seconds = clock.monotonic() - started
    return TrainingResult(
        adapter=adapter,
        steps=plan.steps,
        train_tokens=plan.train_tokens,
        loss_tokens=loss_tokens,
        first_loss=fmean(losses[:EDGE_STEPS]),
        last_loss=fmean(losses[-EDGE_STEPS:]),
        near_noop=adapter.delta_norm < recipe.near_noop_delta_norm,
        wall_seconds=wall_seconds,
        tokens_per_second=_rate(plan.train_tokens - _tokens_of(plan, examples, begun.steps), wall_seconds),
        peak_rss_bytes=peak_rss_bytes(),
        resumed_at_step=begun.steps,
        state_note=begun.note,
    )


def _steps(
    trainer: Trainer,
    examples: Sequence[TokenExample],
    plan: StepsPlan,
    recipe: Recipe,
    config: RunConfig,
    on_progress: OnProgress | None,
    clock: Clock,
    begun: TakenUp,
    kept: KeptState | None,
) -> tuple[list[float], int]:
    """Runs what is left of the plan; returns every step's loss and the number of tokens that the loss was on."""
    losses, loss_tokens = list(begun.losses), begun.loss_tokens
    before = tokens = _tokens_of(plan, examples, begun.steps)
    started = clock.monotonic()
    for step in range(begun.steps, plan.steps):
        batch = [examples[index] for index in plan.batches[step]]
        adam = adam_for(step, plan.steps, config.learning_rate, recipe.optimizer)
        result = trainer.step(batch, adam)
        losses.append(_finite_loss(result, step, plan.steps))
        loss_tokens += round(result.weight_sum)
        tokens += sum(len(example.inputs) + 1 for example in batch)
        if kept is not None and kept.due(step + 1):
            kept.save(trainer, losses, loss_tokens)
        if on_progress is not None:
            rate = _rate(tokens - before, clock.monotonic() - started)
            done = TrainProgress(step + 1, plan.steps, tokens, plan.train_tokens, losses[-1], rate, peak_rss_bytes())
            on_progress(done)
    return losses, loss_tokens


def _tokens_of(plan: StepsPlan, examples: Sequence[TokenExample], steps: int) -> int:
    """Tokens that the first `steps` steps train on."""
    return sum(len(examples[index].inputs) + 1 for batch in plan.batches[:steps] for index in batch)


def _finite_loss(result: StepResult, step: int, steps: int) -> float:
    loss = result.loss_sum / result.weight_sum
    if not math.isfinite(loss):
        raise InfrastructureFailure(
            f"the loss is {loss} at step {step + 1} of {steps}",
            failure="training_diverged",
            where="training",
            fix="submit a smaller learning_rate",
        )
    return loss


def _rate(tokens: int, seconds: float) -> float:
    return tokens / seconds if seconds > 0 else 0.0


def peak_rss_bytes() -> int:
    """Most memory this process has had resident so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
