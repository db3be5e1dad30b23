"""The published results of RSIBench-Data as a frozen record of transcribed facts, with where each came from.

Invariant: one cell for every researcher and profile, and a cell's percentage is its passes over its trials to two
decimals wherever passes could be inferred. Nothing here is computed from the facts; see `published_facts`.
"""

from __future__ import annotations

import json
from decimal import Decimal
from enum import StrEnum
from importlib import resources

from pydantic import Field, ValidationError, model_validator

from rsibench.errors import IntegrityError
from rsibench.spec.frozen import Frozen

_FILE = "published.json"
_ROUNDING = Decimal("0.0051")
"""Half of the last printed digit of a percentage, and a little for either way of rounding it."""


class Role(StrEnum):
    """What a row of the published matrix is."""

    BASE = "base"
    """The student as it is, before any training."""
    PAPER = "paper"
    """One of the paper's four researchers."""
    LATER = "later"
    """Added to the leaderboard after the paper; hours and cost are not published."""


class Source(Frozen):
    """Where facts were read. `reference` is an identifier, not a link that anything opens."""

    key: str
    title: str
    reference: str
    dated: str
    used_for: str


class PublishedProfile(Frozen):
    """A benchmark of the published matrix. `weight` is the later leaderboard's."""

    profile: str
    title: str
    short: str
    tasks: int = Field(ge=1)
    decodes: int = Field(ge=1)
    weight: float = Field(ge=0, le=1)


class PublishedResearcher(Frozen):
    """A row of the published matrix."""

    researcher: str
    title: str
    short: str
    role: Role
    harness: str | None
    effort: str | None


class Cell(Frozen):
    """One researcher on one profile, one run. Passes are inferred from the percentage, None where none fits."""

    researcher: str
    profile: str
    score_percent: Decimal = Field(ge=0, le=100)
    successes_inferred: int | None = Field(ge=0)
    trials: int = Field(ge=1)
    hours: Decimal | None = Field(ge=0)
    tinker_usd: Decimal | None = Field(ge=0)
    tinker_usd_alt_site: Decimal | None = Field(ge=0)

    @model_validator(mode="after")
    def _percentage_fits(self) -> Cell:
        if self.successes_inferred is None:
            return self
        exact = Decimal(100 * self.successes_inferred) / self.trials
        if abs(exact - self.score_percent) > _ROUNDING:
            raise ValueError(f"{self.successes_inferred} of {self.trials} is not {self.score_percent} %")
        return self

    @property
    def rate(self) -> float:
        """The score as a share: passes over trials, or the printed percentage where passes are unknown."""
        if self.successes_inferred is None:
            return float(self.score_percent) / 100
        return self.successes_inferred / self.trials


class SpendAfterPeak(Frozen):
    """Dollars spent after the best attempt, without improvement, over the runs of one profile."""

    profile: str
    least: Decimal
    most: Decimal


class ProcessFacts(Frozen):
    """Aggregates of the attempts, which are themselves unpublished: they cannot be recomputed from the cells."""

    settings: int
    discovered: int
    went_on: int
    regressed: int
    recovered: int
    attempts_median: Decimal
    attempts_least: int
    attempts_most: int
    improved_by_profile: dict[str, int]
    median_improvement_points: dict[str, Decimal]
    mean_peak_official_gap_points: Decimal
    peak_official_gap_settings: int
    peak_official_gap_profiles: tuple[str, ...]
    spend_after_peak_usd: SpendAfterPeak

    @model_validator(mode="after")
    def _adds_up(self) -> ProcessFacts:
        if self.regressed + self.recovered != self.went_on or self.went_on > self.settings:
            raise ValueError("regressed and recovered runs must add up to those that went on")
        if sum(self.improved_by_profile.values()) != self.discovered:
            raise ValueError("improved runs by profile must add up to the discovered ones")
        return self


class PublishedResults(Frozen):
    """Everything that is published and used here."""

    note: str
    sources: tuple[Source, ...]
    profiles: tuple[PublishedProfile, ...]
    researchers: tuple[PublishedResearcher, ...]
    cells: tuple[Cell, ...]
    totals: dict[str, Decimal]
    process: ProcessFacts

    @model_validator(mode="after")
    def _is_a_full_matrix(self) -> PublishedResults:
        wanted = {(row.researcher, profile.profile) for row in self.researchers for profile in self.profiles}
        found = [(cell.researcher, cell.profile) for cell in self.cells]
        if len(found) != len(wanted) or set(found) != wanted:
            raise ValueError("there must be one cell for every researcher and profile")
        sizes = {profile.profile: profile.tasks * profile.decodes for profile in self.profiles}
        odd = [cell for cell in self.cells if cell.trials != sizes[cell.profile]]
        if odd:
            raise ValueError(f"{odd[0].profile} has {sizes[odd[0].profile]} trials, not {odd[0].trials}")
        return self

    def cell(self, researcher: str, profile: str) -> Cell:
        """The cell of a researcher on a profile. Raises KeyError for a name that the matrix lacks."""
        for cell in self.cells:
            if cell.researcher == researcher and cell.profile == profile:
                return cell
        raise KeyError(f"no published cell for {researcher} on {profile}")

    def of_role(self, *roles: Role) -> tuple[PublishedResearcher, ...]:
        """Researchers with one of these roles, in the matrix's order."""
        return tuple(row for row in self.researchers if row.role in roles)

    def cells_of_role(self, *roles: Role) -> tuple[Cell, ...]:
        """Cells of researchers with one of these roles."""
        names = {row.researcher for row in self.of_role(*roles)}
        return tuple(cell for cell in self.cells if cell.researcher in names)


def load_published() -> PublishedResults:
    """The shipped facts. Raises IntegrityError when the file was damaged."""
    path = resources.files("rsibench.analysis") / "data" / _FILE
    try:
        return PublishedResults.model_validate(json.loads(path.read_text("utf-8"), parse_float=Decimal))
    except (OSError, ValueError, ValidationError) as error:
        raise IntegrityError(
            f"the published facts cannot be read: {error}", where=str(path), fix="reinstall the package"
        ) from error
