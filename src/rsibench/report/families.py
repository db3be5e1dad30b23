"""Per-family comparisons on the official split: base against selected, overall and by whether the wording was new.

Invariant: the overall rows are those of the result's scores. The split by templates is counted from the same trials
with the table of outcomes, and its parts add up to the overall rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rsibench.outcomes import TRIAL_RULES, TrialOutcome
from rsibench.report.wording import family_rate
from rsibench.spec.item import Item, Trial
from rsibench.spec.score import FamilyScore, Score


@dataclass(frozen=True, slots=True)
class FamilyChange:
    """One family before and after. A side is None when the family has no trials there."""

    family: str
    base: FamilyScore | None
    selected: FamilyScore | None

    @property
    def change(self) -> float | None:
        """Selected minus base as a share; None when one of them counted nothing."""
        before, after = family_rate(self.base), family_rate(self.selected)
        return None if before is None or after is None else after - before


class NoveltyChange(NamedTuple):
    """A family before and after, on templates that the selection split shows and on those that it never shows."""

    family: str
    seen: FamilyChange
    unseen: FamilyChange


def family_changes(base: Score, selected: Score) -> tuple[FamilyChange, ...]:
    """Every family, the largest gain first; families without a change come last, by name."""
    before = {score.family: score for score in base.families}
    after = {score.family: score for score in selected.families}
    changes = [FamilyChange(name, before.get(name), after.get(name)) for name in {**before, **after}]
    return tuple(sorted(changes, key=_by_change))


def shown_templates(selection_items: Iterable[Item]) -> frozenset[tuple[str, str]]:
    """Family and template of every item of the selection split."""
    return frozenset((item.family, item.template) for item in selection_items)


def novelty_changes(
    shown: frozenset[tuple[str, str]], base: Sequence[Trial], selected: Sequence[Trial], order: Sequence[FamilyChange]
) -> tuple[NoveltyChange, ...]:
    """Families in the order of `order`, split by template, with all of them together as the last row."""
    names = [change.family for change in order]
    rows = []
    for family in (*names, None):
        sides = []
        for new in (False, True):
            counted = [_count(_part(trials, family, shown, new=new), family or "all") for trials in (base, selected)]
            sides.append(FamilyChange(family or "all", *counted))
        rows.append(NoveltyChange(family or "all", *sides))
    return tuple(rows)


def _part(
    trials: Sequence[Trial], family: str | None, shown: frozenset[tuple[str, str]], *, new: bool
) -> tuple[Trial, ...]:
    wanted = (trial for trial in trials if family is None or trial.family == family)
    return tuple(trial for trial in wanted if ((trial.family, trial.template) not in shown) == new)


def _count(trials: Sequence[Trial], family: str) -> FamilyScore | None:
    if not trials:
        return None
    outcomes = [trial.verdict.outcome for trial in trials]
    return FamilyScore(
        family=family,
        passed=sum(outcome is TrialOutcome.PASS for outcome in outcomes),
        counted=sum(TRIAL_RULES[outcome].counts for outcome in outcomes),
        total=len(outcomes),
    )


def _by_change(row: FamilyChange) -> tuple[bool, float, str]:
    change = row.change
    return (change is None, -(change or 0.0), row.family)
