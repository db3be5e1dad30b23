"""How sure the published scores are: an interval for each cell, and which differences are more than chance.

The published figures are totals. Researchers met the same tasks, but which task each solved is not published, so
pairing is impossible and tests treat the samples as independent; that is careful, not exact. Where a profile has
several decodes a task, totals do not say how alike they are: an intraclass correlation is assumed and the trials are
scaled down to effective ones.
"""

from __future__ import annotations

from typing import NamedTuple

from rsibench.analysis.interval import Interval
from rsibench.analysis.power import Design, design_effect, typical_detectable_difference
from rsibench.analysis.proportion import wilson
from rsibench.analysis.published import Cell, PublishedProfile, PublishedResults, Role
from rsibench.analysis.rank_sets import Ranking, rank
from rsibench.analysis.unpaired import fisher_exact, newcombe

ASSUMED_ICC = 0.5
"""Of decodes of one task, where a profile has several; not published."""


class CellInterval(NamedTuple):
    """A cell with its 95 % interval and its difference from base, shares. `base_p` is None where passes are unknown."""

    cell: Cell
    interval: Interval
    effective_trials: float
    gain: float
    gain_interval: Interval
    base_p: float | None


class ProfileComparison(NamedTuple):
    """One profile: all pairs of rows with a whole number of passes, Holm-corrected within the profile."""

    profile: PublishedProfile
    cells: tuple[CellInterval, ...]
    ranking: Ranking
    left_out: tuple[str, ...]
    """Researchers whose percentage is no whole number of passes."""
    detectable_difference: float
    """Between two equal rates like the researchers' mean, with 80 % power and 5 % size; a share."""
    mean_rate: float


def compare_profile(published: PublishedResults, profile: PublishedProfile) -> ProfileComparison:
    """Intervals, rank sets and the detectable difference of one profile. Base is an entry like any other."""
    cells = [cell for cell in published.cells if cell.profile == profile.profile]
    base = published.cell(published.of_role(Role.BASE)[0].researcher, profile.profile)
    known = [cell for cell in cells if cell.successes_inferred is not None]
    researchers = [cell for cell in cells if cell is not base]
    mean_rate = sum(cell.rate for cell in researchers) / len(researchers)
    design = Design(profile.tasks, profile.decodes, ASSUMED_ICC)
    ranking = rank(
        [cell.researcher for cell in known],
        [cell.rate for cell in known],
        lambda one, two: _test(known[one], known[two], profile),
    )
    return ProfileComparison(
        profile=profile,
        cells=tuple(_cell_interval(cell, base, profile) for cell in cells),
        ranking=ranking,
        left_out=tuple(cell.researcher for cell in cells if cell.successes_inferred is None),
        detectable_difference=typical_detectable_difference(mean_rate, design),
        mean_rate=mean_rate,
    )


def effective_trials(profile: PublishedProfile) -> float:
    """Trials of a profile after the design effect of repeated decodes."""
    return profile.tasks * profile.decodes / design_effect(profile.decodes, ASSUMED_ICC)


def _cell_interval(cell: Cell, base: Cell, profile: PublishedProfile) -> CellInterval:
    trials = effective_trials(profile)
    passed = (base.rate * trials, cell.rate * trials)
    is_base = cell.researcher == base.researcher
    testable = not is_base and cell.successes_inferred is not None
    return CellInterval(
        cell=cell,
        interval=wilson(passed[1], trials),
        effective_trials=trials,
        gain=cell.rate - base.rate,
        gain_interval=Interval(0.0, 0.0) if is_base else newcombe(passed, (trials, trials)),
        base_p=_test(base, cell, profile) if testable else None,
    )


def _test(one: Cell, two: Cell, profile: PublishedProfile) -> float:
    """Fisher's exact p at the effective numbers, rounded to whole trials."""
    trials = effective_trials(profile)
    size = round(trials)
    return fisher_exact((round(one.rate * trials), round(two.rate * trials)), (size, size)).p_value
