"""Trials grouped by item: the item is the unit of every estimate, decodes are nested in it.

Invariant: which trials count is read from `outcomes.TRIAL_RULES` alone, and all sums are exact fractions, so that no
estimate depends on the order in which trials arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from rsibench.errors import IntegrityError
from rsibench.outcomes import TRIAL_RULES, TrialOutcome
from rsibench.spec.item import Trial


class ItemRate(NamedTuple):
    """One item: how many of its decodes passed, count and exist at all."""

    passed: int
    counted: int
    total: int

    @property
    def lowest(self) -> Fraction:
        """The rate if every decode that does not count had failed."""
        return Fraction(self.passed, self.total)

    @property
    def highest(self) -> Fraction:
        """The rate if every decode that does not count had passed."""
        return Fraction(self.passed + self.total - self.counted, self.total)


def counts(trial: Trial) -> bool:
    """True when the trial belongs into the denominator."""
    return TRIAL_RULES[trial.verdict.outcome].counts


def passes(trial: Trial) -> bool:
    """True when the trial passed."""
    return trial.verdict.outcome is TrialOutcome.PASS


def item_rates(trials: Iterable[Trial]) -> dict[str, ItemRate]:
    """Every item's rate by its id, in the order of ids; raises IntegrityError when a decode of an item occurs twice."""
    by_item: dict[str, list[Trial]] = {}
    seen: set[tuple[str, int]] = set()
    for trial in trials:
        key = (trial.item_id, trial.decode)
        if key in seen:
            raise IntegrityError(
                f"decode {trial.decode} of item {trial.item_id} occurs twice",
                where="trials",
                fix="score each decode of each item once",
            )
        seen.add(key)
        by_item.setdefault(trial.item_id, []).append(trial)
    return {item_id: _rate(by_item[item_id]) for item_id in sorted(by_item)}


def mean(values: Sequence[Fraction]) -> Fraction:
    """Exact mean; the sequence must not be empty."""
    return sum(values, Fraction(0)) / len(values)


def _rate(trials: list[Trial]) -> ItemRate:
    counted = [trial for trial in trials if counts(trial)]
    return ItemRate(sum(map(passes, counted)), len(counted), len(trials))
