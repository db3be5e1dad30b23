"""Cells: the runs of a campaign's matrix, in the order in which they are started.

Seeds change slowest, so that a campaign that is stopped halfway has whole seeds of every researcher rather than all
seeds of the first. A cell's run id follows from the campaign alone: its journal is the only state a cell has.
"""

from __future__ import annotations

from dataclasses import dataclass

from rsibench.errors import SpecError
from rsibench.ids import RUN_ID
from rsibench.spec.campaign import BudgetChoice, CampaignSpec, ProfileChoice


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of the matrix."""

    run_id: str
    researcher: str
    profile: ProfileChoice
    seed: int
    budget: BudgetChoice


def cells(spec: CampaignSpec) -> tuple[Cell, ...]:
    """Every cell of the matrix. Raises SpecError for a name that cannot be a run id or that two cells would share."""
    made = tuple(
        Cell(_run_id(spec, researcher, profile, budget, seed), researcher, profile, seed, budget)
        for seed in spec.seeds
        for profile in spec.profiles
        for budget in spec.budgets
        for researcher in spec.researchers
    )
    where = f"campaign {spec.name}"
    taken: set[str] = set()
    for cell in made:
        if RUN_ID.fullmatch(cell.run_id) is None:
            raise SpecError(f"{cell.run_id!r} is too long to name a run", where=where, fix="shorten the names in it")
        if cell.run_id in taken:
            fix = "rename a profile, budget or researcher: dashes in their names make two cells look alike"
            raise SpecError(f"two cells would be the run {cell.run_id}", where=where, fix=fix)
        taken.add(cell.run_id)
    return made


def _run_id(spec: CampaignSpec, researcher: str, profile: ProfileChoice, budget: BudgetChoice, seed: int) -> str:
    parts = [spec.name, researcher]
    if len(spec.profiles) > 1:
        parts.append(profile.label)
    if len(spec.budgets) > 1:
        parts.append(budget.name)
    return "-".join([*parts, f"s{seed}"])
