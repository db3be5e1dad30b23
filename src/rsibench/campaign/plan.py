"""The plan of a campaign: its cells with digests and costs, what it can find, and what stands in the way of running it.

Nothing is started and nothing is spent. A profile that is not installed here is planned from its outline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean

from rsibench.analysis.campaign_power import (
    CampaignDesign,
    campaign_power,
    seeds_needed,
    smallest_difference,
    tasks_needed,
)
from rsibench.campaign.cell import Cell, cells
from rsibench.campaign.recorded import MONEY, Recorded, RecordedRuns, typical
from rsibench.errors import BudgetError, EnvironmentFault, SpecError
from rsibench.run.plan import Planned, resolve_profile
from rsibench.spec.budget import BudgetChange
from rsibench.spec.campaign import CampaignSpec, ProfileChoice
from rsibench.spec.frozen import Frozen
from rsibench.units import MILLISECONDS_PER_SECOND, Account, to_units

type PlanRun = Callable[[Cell], Planned]
"""Resolves a cell to a planned run, without starting it; SpecError, EnvironmentFault or BudgetError where it cannot."""

_MICRO = Decimal(1_000_000)
_SECONDS_PER_HOUR = 3600


class CellPlan(Frozen):
    """One cell. Worst case is its whole budget; hours are research hours, official evaluation comes on top."""

    run_id: str
    researcher: str
    profile: str
    budget: str
    seed: int
    protocol_digest: str | None
    worst_usd: Decimal | None
    worst_hours: float | None
    expected_usd: Decimal | None
    expected_hours: float | None
    expected_from: str
    stage: str
    obstacle: str | None
    """Why this cell cannot run here; None when it can."""


class PowerPlan(Frozen):
    """What one profile of the campaign can tell about two researchers, at the campaign's assumptions."""

    profile: str
    official_tasks: int
    decodes: int
    seeds: int
    rate: float
    rate_from: str
    detectable_difference: float | None
    wanted_difference: float
    power_at_wanted: float
    seeds_needed: int | None
    """With the profile's tasks; None when no number of seeds is enough."""
    tasks_needed: int | None
    """With the campaign's seeds; None when no number of tasks is enough."""


class CampaignPlan(Frozen):
    """Everything that `campaign plan` prints. Sums are None when a part of them is unknown."""

    name: str
    title: str
    cells: tuple[CellPlan, ...]
    power: tuple[PowerPlan, ...]
    worst_usd: Decimal | None
    worst_hours: float | None
    expected_usd: Decimal | None
    expected_hours: float | None
    limit_usd: Decimal | None
    limit_hours: float | None
    parallel: int
    assumptions: dict[str, float]

    @property
    def obstacles(self) -> tuple[str, ...]:
        """Every different reason why a cell cannot run here."""
        return tuple(dict.fromkeys(cell.obstacle for cell in self.cells if cell.obstacle is not None))


@dataclass(frozen=True, slots=True)
class _Resolved:
    """What a cell's profile and budget resolve to here."""

    planned: Planned | None
    obstacle: str | None
    limits: dict[Account, int] | None


def plan_campaign(spec: CampaignSpec, plan_run: PlanRun, recorded: RecordedRuns) -> CampaignPlan:
    """Plans every cell. Raises SpecError for a matrix whose cells cannot be named."""
    made = cells(spec)
    stands = recorded.of(cell.run_id for cell in made)
    resolved: dict[tuple[str, str, str], _Resolved] = {}
    plans: list[CellPlan] = []
    for cell in made:
        key = (cell.researcher, cell.profile.label, cell.budget.name)
        if key not in resolved:
            resolved[key] = _resolve(cell, plan_run)
        plans.append(_cell_plan(cell, resolved[key], stands[cell.run_id], recorded))
    by_profile = {
        cell.profile.label: resolved[(cell.researcher, cell.profile.label, cell.budget.name)] for cell in made
    }
    hours = [cell.worst_hours for cell in plans]
    expected_hours = [cell.expected_hours for cell in plans]
    return CampaignPlan(
        name=spec.name,
        title=spec.title,
        cells=tuple(plans),
        power=tuple(_power(spec, choice, by_profile[choice.label], stands, made) for choice in spec.profiles),
        worst_usd=_sum([cell.worst_usd for cell in plans]),
        worst_hours=None if None in hours else sum(hour for hour in hours if hour is not None),
        expected_usd=_sum([cell.expected_usd for cell in plans]),
        expected_hours=None if None in expected_hours else sum(hour for hour in expected_hours if hour is not None),
        limit_usd=spec.limits.usd,
        limit_hours=spec.limits.hours,
        parallel=spec.parallel,
        assumptions=spec.assume.model_dump(),
    )


def worst_case(limits: dict[Account, int]) -> tuple[Decimal, float]:
    """Dollars and research hours that a run with these limits can use at most."""
    usd = sum((Decimal(limits.get(account, 0)) for account in MONEY), Decimal(0)) / _MICRO
    return usd, limits[Account.WALL] / MILLISECONDS_PER_SECOND / _SECONDS_PER_HOUR


def _resolve(cell: Cell, plan_run: PlanRun) -> _Resolved:
    """The cell planned, or why it cannot be and what its budget is all the same."""
    try:
        planned = plan_run(cell)
    except (SpecError, EnvironmentFault, BudgetError) as error:
        try:
            profile = resolve_profile(cell.profile.profile, quick=cell.profile.quick, budget=cell.budget.change)
        except SpecError:
            if cell.profile.outline is None:
                raise error from None
            return _Resolved(None, str(error), _outlined_limits(cell.budget.change))
        return _Resolved(None, str(error), profile.budget.limits())
    return _Resolved(planned, None, planned.lock.protocol.budget.limits())


def _outlined_limits(change: BudgetChange) -> dict[Account, int] | None:
    """Limits of a profile that is not here: known only when the campaign's budget names every part."""
    parts = {account: getattr(change, account.value) for account in Account}
    if any(value is None for value in parts.values()):
        return None
    return {account: to_units(account, value) for account, value in parts.items()}


def _cell_plan(cell: Cell, resolved: _Resolved, stand: Recorded, recorded: RecordedRuns) -> CellPlan:
    worst_usd, worst_hours = worst_case(resolved.limits) if resolved.limits else (None, None)
    digest = resolved.planned.lock.protocol_digest if resolved.planned is not None else None
    known = typical(recorded.like(cell, digest)) if digest is not None else None
    expected_usd, expected_hours, source = None, None, "unknown: no run like it is recorded"
    if known is not None:
        (expected_usd, expected_hours), source = known, "median of recorded runs"
    elif cell.profile.outline is not None:
        outline = cell.profile.outline
        expected_usd, expected_hours, source = outline.expected_usd, outline.expected_hours, outline.source
    return CellPlan(
        run_id=cell.run_id,
        researcher=cell.researcher,
        profile=cell.profile.label,
        budget=cell.budget.name,
        seed=cell.seed,
        protocol_digest=digest,
        worst_usd=worst_usd,
        worst_hours=worst_hours,
        expected_usd=expected_usd,
        expected_hours=expected_hours,
        expected_from=source,
        stage=stand.stage.value,
        obstacle=resolved.obstacle,
    )


def _power(
    spec: CampaignSpec,
    choice: ProfileChoice,
    resolved: _Resolved,
    stands: dict[str, Recorded],
    made: tuple[Cell, ...],
) -> PowerPlan:
    tasks, decodes = _size(choice, resolved)
    rate, source = _rate(choice, stands, made)
    assume = spec.assume
    design = CampaignDesign(tasks, decodes, len(spec.seeds), assume.icc, assume.shared, assume.run_sd)
    other = rate + assume.difference if rate + assume.difference <= 1 else rate - assume.difference
    return PowerPlan(
        profile=choice.label,
        official_tasks=tasks,
        decodes=decodes,
        seeds=len(spec.seeds),
        rate=rate,
        rate_from=source,
        detectable_difference=smallest_difference(rate, design, assume.power),
        wanted_difference=assume.difference,
        power_at_wanted=campaign_power(rate, other, design),
        seeds_needed=seeds_needed(rate, assume.difference, design, assume.power),
        tasks_needed=tasks_needed(rate, assume.difference, design, assume.power),
    )


def _size(choice: ProfileChoice, resolved: _Resolved) -> tuple[int, int]:
    """Official tasks and decodes of a profile."""
    if resolved.planned is not None:
        return len(resolved.planned.official), resolved.planned.profile.decoding.decodes
    if choice.outline is not None:
        return choice.outline.official_items, choice.outline.decodes
    profile = resolve_profile(choice.profile, quick=choice.quick)
    return profile.items.official.per_family * len(profile.items.families), profile.decoding.decodes


def _rate(choice: ProfileChoice, stands: dict[str, Recorded], made: tuple[Cell, ...]) -> tuple[float, str]:
    """The score around which power is computed: this campaign's own runs, else the outline's base, else one half."""
    results = [stands[cell.run_id].result for cell in made if cell.profile.label == choice.label]
    rates = [result.selected_official.rate for result in results if result is not None]
    known = [rate for rate in rates if rate is not None]
    if known:
        return fmean(known), f"mean official score of {len(known)} finished cells"
    if choice.outline is not None:
        return choice.outline.base_rate, f"base score, {choice.outline.source}"
    return 0.5, "assumption with the most noise, since nothing is known yet"


def _sum(parts: list[Decimal | None]) -> Decimal | None:
    known = [part for part in parts if part is not None]
    return sum(known, Decimal(0)) if len(known) == len(parts) else None
