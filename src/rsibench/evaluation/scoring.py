"""The score of one checkpoint on one set of items, and what a checkpoint gained over the base student.

Invariant: an infrastructure failure is neither a wrong answer nor forgotten: it lowers the coverage and widens the
bounds, and below the coverage gate there is no rate at all. Nothing here depends on the order of the trials. Whether a
difference may be printed is not decided here: that needs both scores above the gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from pydantic import Field

from rsibench.errors import IntegrityError
from rsibench.evaluation.intervals import difference_interval, rate_interval
from rsibench.evaluation.item_rates import ItemRate, counts, item_rates, mean, passes
from rsibench.evaluation.sign_flip import sign_flip_p_value
from rsibench.outcomes import TRIAL_RULES, TrialOutcome
from rsibench.spec.frozen import Frozen
from rsibench.spec.item import Trial
from rsibench.spec.score import FamilyScore, Score

ONE_DECODE = "Newcombe interval for paired proportions, exact McNemar test"
SEVERAL_DECODES = "Zou-Donner interval over item rates, exact sign-flip test"


class PairedDifference(Frozen):
    """Mean over items of (selected - base), with a 95 % interval and a two-sided p value.

    Items without a counted decode on one of the sides are left out. The bounds are over all items: they take every
    trial that does not count as the worst, then as the best for the selected checkpoint.
    """

    mean: float
    interval_low: float
    interval_high: float
    p_value: float
    items: int = Field(gt=0)
    left_out: int = Field(ge=0)
    improved: int = Field(ge=0)
    worsened: int = Field(ge=0)
    bound_low: float
    bound_high: float
    method: str


def score_trials(trials: Sequence[Trial], coverage_gate: float) -> Score:
    """The score of `trials`, each of which is one decode of one item.

    `rate` is the mean over items of the mean over their counted decodes, None when the share of counted trials is
    below `coverage_gate` or zero. Its interval is that of `intervals.rate_interval`. The bounds are the rate over all
    items if every trial that does not count had failed, or passed. Raises ValueError without trials and IntegrityError
    when a decode of an item occurs twice.
    """
    if not trials:
        raise ValueError("there are no trials to score")
    items = list(item_rates(trials).values())
    counted = sum(item.counted for item in items)
    coverage = counted / len(trials)
    rates = [_rate(item) for item in items if item.counted]
    withheld = not rates or coverage < coverage_gate
    interval = None if withheld else rate_interval(rates, counted)
    outcomes = Counter(trial.verdict.outcome for trial in trials)
    charged = [trial for trial in trials if TRIAL_RULES[trial.verdict.outcome].charges]
    return Score(
        rate=None if withheld else float(mean(rates)),
        passed=sum(item.passed for item in items),
        counted=counted,
        total=len(trials),
        interval_low=interval.low if interval else None,
        interval_high=interval.high if interval else None,
        bound_low=float(mean([item.lowest for item in items])),
        bound_high=float(mean([item.highest for item in items])),
        coverage=coverage,
        outcomes={outcome.value: outcomes[outcome] for outcome in TrialOutcome},
        families=tuple(_family(name, trials) for name in sorted({trial.family for trial in trials})),
        prompt_tokens=sum(trial.prompt_tokens for trial in charged),
        output_tokens=sum(trial.output_tokens for trial in charged),
    )


def paired_difference(base: Sequence[Trial], selected: Sequence[Trial]) -> PairedDifference:
    """The gain of `selected` over `base`, which must hold trials of the same items.

    The interval is that of `intervals.difference_interval`, the p value that of `sign_flip.sign_flip_p_value`. Raises
    IntegrityError when the two do not hold the same items, ValueError when no item has counted decodes on both sides.
    """
    before, after = item_rates(base), item_rates(selected)
    _check_same_items(base, selected)
    everything = [(before[item], after[item]) for item in before]
    pairs = [(left, right) for left, right in everything if left.counted and right.counted]
    if not pairs:
        raise ValueError("no item has a counted decode on both sides")
    olds, news = [_rate(left) for left, _ in pairs], [_rate(right) for _, right in pairs]
    changes = [new - old for old, new in zip(olds, news, strict=True)]
    old_decodes, new_decodes = sum(left.counted for left, _ in pairs), sum(right.counted for _, right in pairs)
    interval = difference_interval(olds, news, old_decodes, new_decodes)
    return PairedDifference(
        mean=float(mean(changes)),
        interval_low=interval.low,
        interval_high=interval.high,
        p_value=sign_flip_p_value(changes),
        items=len(pairs),
        left_out=len(everything) - len(pairs),
        improved=sum(change > 0 for change in changes),
        worsened=sum(change < 0 for change in changes),
        bound_low=float(mean([right.lowest - left.highest for left, right in everything])),
        bound_high=float(mean([right.highest - left.lowest for left, right in everything])),
        method=ONE_DECODE if old_decodes == new_decodes == len(pairs) else SEVERAL_DECODES,
    )


def _rate(item: ItemRate) -> Fraction:
    return Fraction(item.passed, item.counted)


def _family(name: str, trials: Sequence[Trial]) -> FamilyScore:
    own = [trial for trial in trials if trial.family == name]
    counted = [trial for trial in own if counts(trial)]
    return FamilyScore(family=name, passed=sum(map(passes, counted)), counted=len(counted), total=len(own))


def _check_same_items(base: Sequence[Trial], selected: Sequence[Trial]) -> None:
    """Refuses two sets of trials that are not about the same items, told apart by their digests."""
    left = {trial.item_id: trial.item_digest for trial in base}
    right = {trial.item_id: trial.item_digest for trial in selected}
    odd = sorted(item for item in left.keys() | right.keys() if left.get(item) != right.get(item))
    if odd:
        raise IntegrityError(
            f"{len(odd)} item(s) differ between the two sets of trials, the first: {odd[0]}",
            where="trials",
            fix="compare two checkpoints on the same split of the same protocol digest",
        )
