"""Everything that the page of the published results shows, computed once from the shipped facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import NamedTuple

from pydantic import JsonValue

from rsibench.analysis.optimism import expected_best_of
from rsibench.analysis.published import Cell, PublishedResearcher, PublishedResults, Role, load_published
from rsibench.analysis.published_comparisons import CellInterval, ProfileComparison, compare_profile
from rsibench.analysis.published_facts import CellFacts, cell_facts
from rsibench.analysis.published_null import HeadlineNulls, headline_nulls, sensitivity
from rsibench.spec.frozen import Frozen

BEST_OF = (2, 4, 5, 15)
"""Numbers of attempts for which the page says what picking the best adds: least, around the median, most."""


class BestOf(NamedTuple):
    """How far the best of T equally good attempts lies above their rate, a share for each T of `BEST_OF`."""

    profile: str
    rate: float
    trials: int
    gains: tuple[float, ...]


class MatrixRow(NamedTuple):
    """One researcher's cells in the order of the profiles, and the composite with the leaderboard's weights."""

    researcher: PublishedResearcher
    cells: tuple[CellInterval, ...]
    composite_percent: Decimal


class PaperCell(NamedTuple):
    """A cell of the paper with what it cost."""

    researcher: str
    profile: str
    cell: Cell
    gain: float


@dataclass(frozen=True)
class PublishedView:
    """`nulls[0]` is the quoted one; the others show how much it depends on its assumptions."""

    published: PublishedResults
    facts: CellFacts
    comparisons: tuple[ProfileComparison, ...]
    nulls: tuple[HeadlineNulls, ...]
    best_of: tuple[BestOf, ...]
    rows: tuple[MatrixRow, ...]

    @property
    def paper_cells(self) -> tuple[PaperCell, ...]:
        """The paper's cells by profile, then researcher."""
        names = {row.researcher: row.short for row in self.published.of_role(Role.PAPER)}
        return tuple(
            PaperCell(names[entry.cell.researcher], comparison.profile.short, entry.cell, entry.gain)
            for comparison in self.comparisons
            for entry in comparison.cells
            if entry.cell.researcher in names
        )

    def name(self, researcher: str) -> str:
        """A researcher's short name for people."""
        return next(row.short for row in self.published.researchers if row.researcher == researcher)

    def short(self, profile: str) -> str:
        """A profile's short name."""
        return next(row.short for row in self.published.profiles if row.profile == profile)


def published_view(published: PublishedResults | None = None) -> PublishedView:
    """The view of the shipped facts, or of others; takes some seconds of simulation."""
    facts = load_published() if published is None else published
    comparisons = tuple(compare_profile(facts, profile) for profile in facts.profiles)
    summary = cell_facts(facts)
    return PublishedView(
        published=facts,
        facts=summary,
        comparisons=comparisons,
        nulls=tuple(headline_nulls(facts, assumptions) for assumptions in sensitivity()),
        best_of=tuple(_best_of(comparison) for comparison in comparisons),
        rows=tuple(
            MatrixRow(
                researcher,
                tuple(
                    entry
                    for comparison in comparisons
                    for entry in comparison.cells
                    if entry.cell.researcher == researcher.researcher
                ),
                summary.composites[researcher.researcher],
            )
            for researcher in facts.researchers
        ),
    )


def published_json(view: PublishedView) -> dict[str, JsonValue]:
    """The page's numbers as one JSON document. Shares from 0 to 1 unless a name says percent or points."""
    return {
        "facts_file": view.published.model_dump(mode="json"),
        "computed_from_cells": _plain(view.facts),
        "profiles": _plain(view.comparisons),
        "headline_rates": _plain(view.nulls),
        "best_of_attempts": list(BEST_OF),
        "best_of": _plain(view.best_of),
    }


def _best_of(comparison: ProfileComparison) -> BestOf:
    trials = comparison.profile.tasks * comparison.profile.decodes
    gains = tuple(expected_best_of(attempts, comparison.mean_rate, trials) for attempts in BEST_OF)
    return BestOf(comparison.profile.short, comparison.mean_rate, trials, gains)


def _plain(value: object) -> JsonValue:
    """Records as JSON objects; named tuples keep their names."""
    match value:
        case Frozen():
            return value.model_dump(mode="json")
        case Enum():
            return str(value.value)
        case Decimal():
            return str(value)
        case tuple() if hasattr(value, "_fields"):
            return {name: _plain(part) for name, part in zip(value._fields, value, strict=True)}
        case tuple() | list():
            return [_plain(part) for part in value]
        case Mapping():
            return {str(name): _plain(part) for name, part in value.items()}
        case None | bool() | int() | float() | str():
            return value
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form here")
