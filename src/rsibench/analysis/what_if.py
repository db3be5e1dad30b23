"""What-if: other stopping and selection rules replayed over a recorded run, and what each would have been worth.

The attempts are the recorded ones; a rule decides how many of them are made and which is selected. Its worth is
measured on tasks that did not choose: half of a run's selection tasks feed the rule, the other half score its choice,
over and over. A rule cannot make an attempt that was never made, so replays say nothing of what would have followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple, assert_never

import numpy as np
from pydantic import Field

from rsibench.analysis.arrays import Bools, Floats, Ints
from rsibench.spec.frozen import Frozen

SPLITS = 400
_PLACES = 9


class StopAt(Frozen):
    """Make the first `attempts`, select the best of them."""

    kind: Literal["stop-at"] = "stop-at"
    attempts: int = Field(ge=1)


class StopAfter(Frozen):
    """Stop after this many attempts in a row without a new best."""

    kind: Literal["patience"] = "patience"
    without_best: int = Field(ge=1)


class BudgetShare(Frozen):
    """Make the attempts that were scored by the time this share of the run's spending was used."""

    kind: Literal["budget-share"] = "budget-share"
    share: float = Field(gt=0, le=1)


class Ladder(Frozen):
    """Make all, but move to a new best only when it is better by `step`: the Ladder (Blum and Hardt, ICML 2015)."""

    kind: Literal["ladder"] = "ladder"
    step: float = Field(ge=0, lt=1)


class Corrected(Frozen):
    """Make all, select the best only when its score, shrunken towards the mean, still beats base; else keep base."""

    kind: Literal["corrected"] = "corrected"


class First(Frozen):
    """Make one attempt and keep it."""

    kind: Literal["first"] = "first"


class Last(Frozen):
    """Make all and keep the last, whatever it scored."""

    kind: Literal["last"] = "last"


class Best(Frozen):
    """Make all and keep the best selection score: the declared rule."""

    kind: Literal["best"] = "best"


type Rule = Annotated[
    StopAt | StopAfter | BudgetShare | Ladder | Corrected | First | Last | Best, Field(discriminator="kind")
]

STANDARD_RULES: tuple[Rule, ...] = (
    Best(),
    First(),
    Last(),
    StopAt(attempts=2),
    StopAt(attempts=4),
    StopAfter(without_best=1),
    StopAfter(without_best=2),
    BudgetShare(share=0.5),
    Ladder(step=0.02),
    Ladder(step=0.05),
    Corrected(),
)


class Replay(NamedTuple):
    """Means over splits. `worth` is the held-out score of what the rule selects, `gain` that less base's.

    `regret` is the best score on all tasks, base included, less `worth`: partly luck, meant for comparing rules.
    """

    rule: Rule
    worth: float
    gain: float
    regret: float
    attempts: float
    share_spent: float
    kept_base: float


class _Choices(NamedTuple):
    """(splits,) each: the index of what is selected, -1 for base, and how many attempts were made."""

    selected: Ints
    made: Ints


class _Seen(NamedTuple):
    """What the choosing half shows: scores (splits, attempts), base's (splits,), spending and noise (attempts,)."""

    scores: Floats
    base: Floats
    spent: Floats
    noise: Floats


def replay(
    rates: Floats, base: Floats, spent: Floats, rules: Sequence[Rule], rng: np.random.Generator, splits: int = SPLITS
) -> tuple[Replay, ...]:
    """Each rule over one run: task rates (attempts, tasks), base's (tasks,), spending (attempts,) cumulative.

    The same splits serve every rule. Raises ValueError for fewer than two tasks or no attempt.
    """
    attempts, tasks = rates.shape
    if attempts == 0 or tasks < 2:
        raise ValueError(f"a replay needs attempts and at least two tasks, not {attempts} and {tasks}")
    half = tasks // 2
    chooses = (np.argsort(rng.random((splits, tasks)), axis=1) < half).astype(np.float64)
    table = np.vstack([rates, base])  # base is the last row
    total = table.sum(axis=1)
    seen = chooses @ table.T
    held_out = (total - seen) / (tasks - half)
    seen = np.round(seen / half, _PLACES)
    full = float(total.max()) / tasks
    noise = (rates - rates.mean(axis=0)).var(axis=1, ddof=1) / half
    return tuple(_replayed(rule, _Seen(seen[:, :-1], seen[:, -1], spent, noise), held_out, full) for rule in rules)


def _replayed(rule: Rule, seen: _Seen, held_out: Floats, full: float) -> Replay:
    spent = seen.spent
    chosen = _choose(rule, seen)
    rows = np.arange(len(held_out))
    worth = held_out[rows, chosen.selected]  # -1 is base's column
    total = float(spent[-1])
    shares = spent[chosen.made - 1] / total if total > 0 else np.zeros(len(rows))
    return Replay(
        rule=rule,
        worth=float(worth.mean()),
        gain=float((worth - held_out[:, -1]).mean()),
        regret=full - float(worth.mean()),
        attempts=float(chosen.made.mean()),
        share_spent=float(shares.mean()),
        kept_base=float((chosen.selected < 0).mean()),
    )


def _choose(rule: Rule, seen: _Seen) -> _Choices:
    """What a rule makes and selects, from what the choosing half of the tasks shows."""
    scores, spent = seen.scores, seen.spent
    splits, attempts = scores.shape
    everything = np.full(splits, attempts, dtype=np.int64)
    match rule:
        case Best():
            return _Choices(_best(scores), everything)
        case First():
            return _Choices(np.zeros(splits, dtype=np.int64), np.ones(splits, dtype=np.int64))
        case Last():
            return _Choices(everything - 1, everything)
        case StopAt():
            made = np.minimum(everything, rule.attempts)
            return _Choices(_best(_first_made(scores, made)), made)
        case StopAfter():
            made = _patient(scores, rule.without_best)
            return _Choices(_best(_first_made(scores, made)), made)
        case BudgetShare():
            within = int(np.searchsorted(spent, spent[-1] * rule.share, side="right"))
            made = np.full(splits, max(1, within), dtype=np.int64)
            return _Choices(_best(_first_made(scores, made)), made)
        case Ladder():
            return _Choices(_climbed(scores, seen.base, rule.step), everything)
        case Corrected():
            return _Choices(_shrunken(scores, seen.base, seen.noise), everything)
        case _:
            assert_never(rule)


def _best(scores: Floats) -> Ints:
    best: Ints = scores.argmax(axis=1)
    return best


def _first_made(scores: Floats, made: Ints) -> Floats:
    """Scores with attempts that were not made at minus infinity."""
    return np.where(np.arange(scores.shape[1]) < made[:, None], scores, -np.inf)


def _patient(scores: Floats, without_best: int) -> Ints:
    """(splits,): attempts made until so many in a row brought no new best."""
    best = np.maximum.accumulate(scores, axis=1)
    fresh = np.ones(scores.shape, dtype=np.bool_)
    fresh[:, 1:] = scores[:, 1:] > best[:, :-1]
    columns = np.arange(scores.shape[1])
    waited: Bools = columns - np.maximum.accumulate(np.where(fresh, columns, 0), axis=1) >= without_best
    return np.where(waited.any(axis=1), waited.argmax(axis=1) + 1, scores.shape[1]).astype(np.int64)


def _climbed(scores: Floats, base: Floats, step: float) -> Ints:
    """(splits,): the attempt on which the ladder stands at the end, -1 where it never left base."""
    standing, selected = base.copy(), np.full(len(base), -1, dtype=np.int64)
    for attempt in range(scores.shape[1]):
        better = scores[:, attempt] > standing + step
        standing = np.where(better, scores[:, attempt], standing)
        selected = np.where(better, attempt, selected)
    return selected


def _shrunken(scores: Floats, base: Floats, noise: Floats) -> Ints:
    """(splits,): the best attempt, or base where its score shrunken to the attempts' mean does not beat base.

    Empirical Bayes as in `optimism.shrunken`, with the part of the error that is not common to the attempts.
    """
    best = _best(scores)
    rows = np.arange(len(scores))
    if scores.shape[1] < 2:
        return np.where(scores[rows, best] > base, best, -1)
    centre = scores.mean(axis=1)
    between = np.maximum(scores.var(axis=1, ddof=1) - noise.mean(), 0)
    spread = between + noise[best]
    kept = np.divide(between, spread, out=np.ones_like(between), where=spread > 0)
    return np.where(centre + kept * (scores[rows, best] - centre) > base, best, -1)
