"""The paper's headline rates beside what chance gives, under stated assumptions about what is not published.

Unpublished are the number of attempts of each setting (known: median, least and most over the settings) and their
scores. Assumed: every attempt of a setting is as good as any other; their common rate is the setting's official score,
or base's; a share of the tasks never changes its verdict; and numbers of attempts are drawn so that median, least and
most are as published, or are the lists that agree with these three and give the lowest or the highest discovery rate.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from rsibench.analysis.arrays import Floats, Ints
from rsibench.analysis.equal_skill import RunSizes, draw_marks
from rsibench.analysis.null_comparison import NullComparison, compare
from rsibench.analysis.process_rates import CountOf, ProcessRate, counts
from rsibench.analysis.published import Cell, ProcessFacts, PublishedResults, Role

DRAWS = 4_000
SEED = 20_260_728
LOG_SPREAD = 0.5
_BATCH = 20_000


class AttemptsAssumption(StrEnum):
    """How many attempts each setting is taken to have made."""

    DRAWN = "drawn, log-normal"
    """Discretised log-normal around the published median with log-spread 0.5, kept where median and range agree."""
    SHORTEST = "shortest list that agrees"
    """The list that agrees with the published summary and has the lowest expected discovery rate."""
    LONGEST = "longest list that agrees"
    """The list that agrees with the published summary and has the highest expected discovery rate."""


class RateAssumption(StrEnum):
    """Which rate all attempts of a setting share."""

    OFFICIAL = "the setting's official score"
    BASE = "base's score"


class Assumptions(NamedTuple):
    """One way to fill in what is not published. `icc`: share of tasks with a verdict that never changes."""

    attempts: AttemptsAssumption = AttemptsAssumption.DRAWN
    rates: RateAssumption = RateAssumption.OFFICIAL
    icc: float = 0.0


class HeadlineNulls(NamedTuple):
    """The paper's process rates against chance, under one set of assumptions."""

    assumptions: Assumptions
    mean_attempts: float
    rates: tuple[NullComparison, ...]

    def of(self, rate: ProcessRate) -> NullComparison:
        """The comparison of one rate."""
        return next(entry for entry in self.rates if entry.rate is rate)


def sensitivity() -> tuple[Assumptions, ...]:
    """The first is the one quoted; the others say how much it depends on what was assumed."""
    return tuple(
        Assumptions(attempts, rates, icc)
        for attempts in AttemptsAssumption
        for rates in RateAssumption
        for icc in (0.0, 0.5)
    )


def headline_nulls(published: PublishedResults, assumptions: Assumptions, draws: int = DRAWS) -> HeadlineNulls:
    """Simulate the paper's settings without any skill. The same assumptions give the same numbers."""
    rng = np.random.default_rng([SEED, *(ord(letter) for letter in f"{assumptions}")])
    facts = published.process
    cells = published.cells_of_role(Role.PAPER)
    lengths = attempt_lists(facts, assumptions.attempts, rng, draws)
    marks = draw_marks(_sizes(published, cells, assumptions.rates), lengths, assumptions.icc, rng)
    return HeadlineNulls(
        assumptions=assumptions,
        mean_attempts=float(lengths.mean()),
        rates=tuple(
            compare(rate, observed, counts(marks, rate).rates(), "equal skill, stated assumptions")
            for rate, observed in observed_counts(facts).items()
        ),
    )


def observed_counts(facts: ProcessFacts) -> dict[ProcessRate, CountOf]:
    """The published aggregates as process rates."""
    return {
        ProcessRate.DISCOVERY: CountOf(facts.discovered, facts.settings),
        ProcessRate.REGRESSION: CountOf(facts.regressed, facts.went_on),
        ProcessRate.RECOVERY: CountOf(facts.recovered, facts.went_on),
        ProcessRate.PERSISTENCE: CountOf(facts.went_on, facts.settings),
    }


def attempt_lists(facts: ProcessFacts, kind: AttemptsAssumption, rng: np.random.Generator, draws: int) -> Ints:
    """(draws, settings) numbers of attempts with the published median, least and most; which setting has which is
    drawn.
    """
    if kind is AttemptsAssumption.DRAWN:
        return _drawn_lists(facts, rng, draws)
    chosen = extreme_list(facts, longest=kind is AttemptsAssumption.LONGEST)
    return rng.permuted(np.broadcast_to(chosen, (draws, len(chosen))), axis=1)


def extreme_list(facts: ProcessFacts, *, longest: bool) -> Ints:
    """(settings,) sorted: of all lists with the published median, least and most, the one with extreme mean of 1 - 1/T.

    Below and above the two middle values each place takes the smallest or the largest value that order allows, and the
    middle pair is tried at every width.
    """
    least, most = facts.attempts_least, facts.attempts_most
    half, double = facts.settings // 2, int(2 * facts.attempts_median)
    if facts.settings % 2:
        raise ValueError("the extreme lists are written for an even number of settings")
    candidates = []
    for lower in range(max(least, double - most), double // 2 + 1):
        upper = double - lower
        low_side = [least, *([lower] * (half - 1))] if longest else [*([least] * (half - 1)), lower]
        high_side = [upper, *([most] * (half - 1))] if longest else [*([upper] * (half - 1)), most]
        candidates.append(np.array(low_side + high_side, dtype=np.int64))
    pick = max if longest else min
    return pick(candidates, key=lambda values: float((1 - 1 / values).mean()))


def _drawn_lists(facts: ProcessFacts, rng: np.random.Generator, draws: int) -> Ints:
    sizes = np.arange(facts.attempts_least, facts.attempts_most + 1)
    distance = np.log(sizes / float(facts.attempts_median)) / LOG_SPREAD
    weights = np.exp(-(distance**2) / 2) / sizes
    edges = np.cumsum(weights / weights.sum())[:-1]
    kept: list[Ints] = []
    while sum(map(len, kept)) < draws:
        lists = sizes[np.searchsorted(edges, rng.random((_BATCH, facts.settings)))]
        ends = (lists.min(axis=1) == facts.attempts_least) & (lists.max(axis=1) == facts.attempts_most)
        lists = lists[ends]
        kept.append(lists[np.median(lists, axis=1) == float(facts.attempts_median)])
    return np.concatenate(kept)[:draws]


def _sizes(published: PublishedResults, cells: tuple[Cell, ...], rates: RateAssumption) -> RunSizes:
    profiles = {profile.profile: profile for profile in published.profiles}
    base = published.of_role(Role.BASE)[0].researcher
    common = [cell if rates is RateAssumption.OFFICIAL else published.cell(base, cell.profile) for cell in cells]
    return RunSizes(
        rates=_smoothed(common),
        tasks=np.array([profiles[cell.profile].tasks for cell in cells], dtype=np.int64),
        decodes=np.array([profiles[cell.profile].decodes for cell in cells], dtype=np.int64),
        lengths=np.array([published.process.attempts_most] * len(cells), dtype=np.int64),
    )


def _smoothed(cells: list[Cell]) -> Floats:
    """Rates with half a pass and half a failure added, so that a score of 0 does not mean that nothing can pass."""
    return np.array([(cell.rate * cell.trials + 0.5) / (cell.trials + 1) for cell in cells])
