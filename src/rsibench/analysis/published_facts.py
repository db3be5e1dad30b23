"""What follows from the published cells alone: spreads, medians, winners, cells below base.

Only the paper's four researchers count here; the later one has no hours or cost and ran afterwards. Money and hours are
exact decimals, so that a median between two cents is what arithmetic on paper gives.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from statistics import median

from rsibench.analysis.published import Cell, PublishedResults, Role
from rsibench.spec.frozen import Frozen

_CENT = Decimal("0.01")


class Spread(Frozen):
    """Median and range of a published figure; the median is rounded half up to two decimals."""

    median: Decimal
    least: Decimal
    most: Decimal
    cells: int


class ProfileFacts(Frozen):
    """One profile: who scored best, and how far best and worst are apart in points."""

    profile: str
    winners: tuple[str, ...]
    best_percent: Decimal
    worst_percent: Decimal
    base_percent: Decimal
    below_base: tuple[str, ...]

    @property
    def spread_points(self) -> Decimal:
        return self.best_percent - self.worst_percent


class CellFacts(Frozen):
    """Everything that the paper's cells say by themselves."""

    settings: int
    hours: Spread
    tinker_usd: Spread
    profiles: tuple[ProfileFacts, ...]
    leads_everywhere: tuple[str, ...]
    """Researchers with the best score on every profile; the paper has none."""
    different_swe_winners: int
    below_base: tuple[tuple[str, str], ...]
    """Researcher and profile of each cell below base."""
    composites: dict[str, Decimal]
    """Weighted mean score in percent by researcher, with the later leaderboard's weights."""


def cell_facts(published: PublishedResults) -> CellFacts:
    """Facts of the paper's cells."""
    cells = published.cells_of_role(Role.PAPER)
    profiles = tuple(_profile_facts(published, profile.profile) for profile in published.profiles)
    everywhere = set.intersection(*(set(facts.winners) for facts in profiles))
    swe = {name for facts in profiles if facts.profile.startswith("swe-bench-") for name in facts.winners}
    return CellFacts(
        settings=len(cells),
        hours=_spread([cell.hours for cell in cells]),
        tinker_usd=_spread([cell.tinker_usd for cell in cells]),
        profiles=profiles,
        leads_everywhere=tuple(sorted(everywhere)),
        different_swe_winners=len(swe),
        below_base=tuple((name, facts.profile) for facts in profiles for name in facts.below_base),
        composites={row.researcher: composite(published, row.researcher) for row in published.researchers},
    )


def composite(published: PublishedResults, researcher: str) -> Decimal:
    """Weighted mean score in percent, as the later leaderboard has it; the paper defines none."""
    parts = (
        Decimal(str(profile.weight)) * published.cell(researcher, profile.profile).score_percent
        for profile in published.profiles
    )
    return sum(parts, start=Decimal(0))


def _profile_facts(published: PublishedResults, profile: str) -> ProfileFacts:
    cells = [cell for cell in published.cells_of_role(Role.PAPER) if cell.profile == profile]
    base = published.cell(published.of_role(Role.BASE)[0].researcher, profile).score_percent
    best, worst = max(cells, key=_score).score_percent, min(cells, key=_score).score_percent
    return ProfileFacts(
        profile=profile,
        winners=tuple(cell.researcher for cell in cells if cell.score_percent == best),
        best_percent=best,
        worst_percent=worst,
        base_percent=base,
        below_base=tuple(cell.researcher for cell in cells if cell.score_percent < base),
    )


def _score(cell: Cell) -> Decimal:
    return cell.score_percent


def _spread(values: list[Decimal | None]) -> Spread:
    known = [value for value in values if value is not None]
    if len(known) != len(values):
        raise ValueError("a median over cells needs the figure of every cell")
    middle = Decimal(median(known)).quantize(_CENT, rounding=ROUND_HALF_UP)
    return Spread(median=middle, least=min(known), most=max(known), cells=len(known))
