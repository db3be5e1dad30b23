"""Feedback: what the researcher is told about a checkpoint on the selection split, at the profile's level.

Invariant: it never holds an expected answer, at any level; answers are protected material even where prompts are shown.
It is a pure function of the trials, the items and the level, and equal inputs give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rsibench.errors import IntegrityError
from rsibench.outcomes import FinishReason, TrialOutcome
from rsibench.spec.frozen import Frozen
from rsibench.spec.item import Item, Split, Trial
from rsibench.spec.profile import FeedbackLevel
from rsibench.spec.score import FamilyScore, Score


class ScoreView(Frozen):
    """The overall score without its parts. `rate` and its interval are None when too few trials counted."""

    rate: float | None
    interval_low: float | None
    interval_high: float | None
    passed: int
    counted: int
    total: int
    coverage: float
    bound_low: float
    bound_high: float


class ItemFeedback(Frozen):
    """One decode of one item. The second half is given at the level `trajectories` only."""

    item_id: str
    family: str
    decode: int
    outcome: TrialOutcome
    prompt: str | None = None
    output: str | None = None
    extracted: str | None = None
    reason: str | None = None
    finish_reason: FinishReason | None = None
    output_tokens: int | None = None


class Feedback(Frozen):
    """The document. `families` and `items` are empty at the level `aggregate`; attempt 0 is the base student."""

    attempt: int
    split: Split
    level: FeedbackLevel
    score: ScoreView
    families: tuple[FamilyScore, ...] = ()
    items: tuple[ItemFeedback, ...] = ()


def build_feedback(
    attempt: int, trials: Sequence[Trial], score: Score, items: Mapping[str, Item], level: FeedbackLevel
) -> Feedback:
    """Feedback at `level`. Raises IntegrityError for a trial that is not of a selection item."""
    for trial in trials:
        item = items.get(trial.item_id)
        if item is None or item.item_digest != trial.item_digest:
            raise IntegrityError(
                f"trial of {trial.item_id} does not belong to the selection split",
                where=f"feedback of attempt {attempt}",
                fix="this is a fault of the program; keep the run's folder and report it",
            )
    detailed = level is not FeedbackLevel.AGGREGATE
    return Feedback(
        attempt=attempt,
        split=Split.SELECTION,
        level=level,
        score=score_view(score),
        families=score.families if detailed else (),
        items=tuple(_item(trial, items[trial.item_id], level) for trial in trials) if detailed else (),
    )


def score_view(score: Score) -> ScoreView:
    """The overall part of a score."""
    return ScoreView(**{name: getattr(score, name) for name in ScoreView.model_fields})


def _item(trial: Trial, item: Item, level: FeedbackLevel) -> ItemFeedback:
    told = ItemFeedback(item_id=trial.item_id, family=trial.family, decode=trial.decode, outcome=trial.verdict.outcome)
    if level is not FeedbackLevel.TRAJECTORIES:
        return told
    return told.model_copy(
        update={
            "prompt": item.prompt,
            "output": trial.output,
            "extracted": trial.verdict.extracted,
            "reason": trial.verdict.reason or None,
            "finish_reason": trial.finish_reason,
            "output_tokens": trial.output_tokens,
        }
    )
