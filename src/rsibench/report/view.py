"""Everything the page's template needs, gathered from a record: plain values and small tuples, no markup.

Invariant: numbers are the result's own. Lists that a hostile run could make endless are cut here, and say how many
there were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rsibench.report.costs import AccountUse, account_uses
from rsibench.report.families import FamilyChange, NoveltyChange, family_changes, novelty_changes, shown_templates
from rsibench.report.samples import (
    PairKind,
    SubmissionView,
    TrialPair,
    sampled,
    submission_view,
    trial_pairs,
)
from rsibench.run.record import RecordedEvent, RunRecord
from rsibench.spec.score import Score

EVENTS_SHOWN = 3_000
SUBMISSIONS_SHOWN = 60
PROBLEMS_SHOWN = 50
INCIDENTS_SHOWN = 500
TRIALS_SHOWN = 4_000


class Listed[T](NamedTuple):
    """The first of many things, with how many there were."""

    shown: tuple[T, ...]
    total: int

    @property
    def left_out(self) -> int:
        return self.total - len(self.shown)


class NamedScore(NamedTuple):
    """A score with what it is a score of."""

    name: str
    score: Score


class FamilyOfAttempts(NamedTuple):
    """Passed and counted of one family on the selection split: base first, then every scored attempt."""

    family: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """The contents of a page. `kept_base` says that no attempt was selected."""

    record: RunRecord
    kept_base: bool
    scores: tuple[NamedScore, ...]
    changes: tuple[FamilyChange, ...]
    novelty: tuple[NoveltyChange, ...]
    unseen_items: int
    selection_families: tuple[FamilyOfAttempts, ...]
    scored_attempts: tuple[int, ...]
    uses: tuple[AccountUse, ...]
    submissions: Listed[SubmissionView]
    refused: Listed[SubmissionView]
    incidents: Listed[str]
    events: Listed[RecordedEvent]
    pairs: Listed[TrialPair]
    pair_counts: dict[PairKind, int]
    sampled_pairs: dict[PairKind, tuple[TrialPair, ...]]


def run_view(record: RunRecord) -> RunView:
    """Gather a page's contents. Pure; parses only the first rows of each submission."""
    result = record.result
    kept = result.selected_attempt is None
    shown = shown_templates(record.selection_items)
    changes = family_changes(result.base_official, result.selected_official)
    pairs = trial_pairs(record, shown)
    unseen = sum((item.family, item.template) not in shown for item in record.official_items)
    taken = [one for one in record.submissions if not one.problems]
    refused = [one for one in record.submissions if one.problems]
    scored = [attempt for attempt in result.attempts if attempt.score is not None]
    return RunView(
        record=record,
        kept_base=kept,
        scores=_scores(record),
        changes=changes,
        novelty=novelty_changes(shown, record.base_official_trials, record.selected_official_trials, changes)
        if 0 < unseen < len(record.official_items)
        else (),
        unseen_items=unseen,
        selection_families=_selection_families(record),
        scored_attempts=tuple(attempt.attempt for attempt in scored),
        uses=account_uses(record),
        submissions=Listed(tuple(map(submission_view, taken[:SUBMISSIONS_SHOWN])), len(taken)),
        refused=Listed(tuple(map(submission_view, refused[:SUBMISSIONS_SHOWN])), len(refused)),
        incidents=_first(result.incidents, INCIDENTS_SHOWN),
        events=_first(record.events, EVENTS_SHOWN),
        pairs=_first(pairs, TRIALS_SHOWN),
        pair_counts={kind: sum(pair.kind is kind for pair in pairs) for kind in PairKind},
        sampled_pairs=sampled(pairs),
    )


def _first[T](things: Sequence[T], most: int) -> Listed[T]:
    return Listed(tuple(things[:most]), len(things))


def _scores(record: RunRecord) -> tuple[NamedScore, ...]:
    """The scores behind the outcome: base and the committed attempt on both splits."""
    result = record.result
    found = [NamedScore("base, selection split", result.base_selection)]
    for attempt in result.attempts:
        if attempt.attempt == result.selected_attempt and attempt.score is not None:
            found.append(NamedScore(f"attempt {attempt.attempt}, selection split", attempt.score))
    found.append(NamedScore("base, official split", result.base_official))
    if result.selected_attempt is not None:
        found.append(NamedScore(f"attempt {result.selected_attempt}, official split", result.selected_official))
    return tuple(found)


def _selection_families(record: RunRecord) -> tuple[FamilyOfAttempts, ...]:
    scores = [record.result.base_selection]
    scores += [attempt.score for attempt in record.result.attempts if attempt.score is not None]
    names = list(dict.fromkeys(family.family for score in scores for family in score.families))
    by_score = [{family.family: family for family in score.families} for score in scores]
    return tuple(
        FamilyOfAttempts(
            name,
            tuple(f"{one[name].passed} / {one[name].counted}" if name in one else "none" for one in by_score),
        )
        for name in names
    )
