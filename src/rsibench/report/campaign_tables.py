"""Tables of a campaign for the terminal: its plan, how far its cells are, and what they scored."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from rich.table import Table

from rsibench.campaign.controller import Doing
from rsibench.campaign.plan import CampaignPlan, PowerPlan
from rsibench.campaign.recorded import CellStage, Recorded

_UNKNOWN = "unknown"
_DIGEST_CHARACTERS = 12
_MINUTES_PER_HOUR = 60


def plan_table(plan: CampaignPlan) -> Table:
    """One line a researcher, profile and budget; seeds are counted, they differ in nothing that is planned."""
    table = Table(box=None, pad_edge=False)
    for heading in ("researcher", "profile", "budget", "seeds", "worst a run", "expected", "protocol"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("worst a run", "protocol"))
    groups: dict[tuple[str, str, str], list[int]] = {}
    for cell in plan.cells:
        groups.setdefault((cell.researcher, cell.profile, cell.budget), []).append(cell.seed)
    for cell in plan.cells:
        seeds = groups.pop((cell.researcher, cell.profile, cell.budget), None)
        if seeds is None:
            continue
        table.add_row(
            cell.researcher,
            cell.profile,
            cell.budget,
            ", ".join(str(seed) for seed in seeds),
            amounts(cell.worst_usd, cell.worst_hours),
            amounts(cell.expected_usd, cell.expected_hours),
            cell.protocol_digest[:_DIGEST_CHARACTERS] if cell.protocol_digest else "not here",
        )
    return table


def power_table(plan: CampaignPlan) -> Table:
    """What each profile can tell about two researchers."""
    table = Table(box=None, pad_edge=False)
    wanted = plan.assumptions["difference"]
    for heading in (
        "profile",
        "items x decodes x seeds",
        "rate",
        "detectable",
        f"power at {wanted:.2f}",
        "needs seeds",
        "or items",
    ):
        table.add_column(heading, overflow="fold")
    for one in plan.power:
        table.add_row(
            one.profile,
            f"{one.official_tasks} x {one.decodes} x {one.seeds}",
            f"{one.rate:.2f}",
            _UNKNOWN if one.detectable_difference is None else f"{one.detectable_difference:.3f}",
            f"{one.power_at_wanted:.0%}",
            "no number is enough" if one.seeds_needed is None else str(one.seeds_needed),
            _items(one),
        )
    return table


def status_table(stands: Mapping[str, Recorded], doing: Mapping[str, tuple[Doing, str]]) -> Table:
    """One line a cell: how far it is, what it spent, what it scored."""
    table = Table(box=None, pad_edge=False)
    for heading in ("cell", "state", "spent", "time", "official", "gain", "note"):
        table.add_column(heading, overflow="fold", no_wrap=heading != "note")
    for run_id, stand in stands.items():
        state, note = doing.get(run_id, (None, ""))
        table.add_row(run_id, *_status_cells(stand, state), note)
    return table


def limits_text(plan: CampaignPlan) -> str:
    """The shared limits; empty without any."""
    parts = [] if plan.limit_usd is None else [f"${plan.limit_usd:,.2f}"]
    if plan.limit_hours is not None:
        parts.append(f"{plan.limit_hours:g} h")
    return ", ".join(parts)


def amounts(usd: Decimal | None, hours: float | None) -> str:
    """Dollars and hours in one cell."""
    money = _UNKNOWN if usd is None else f"${usd:,.3f}" if usd < 1 else f"${usd:,.2f}"
    time = _UNKNOWN if hours is None else duration(hours)
    return _UNKNOWN if usd is None and hours is None else f"{money}, {time}"


def duration(hours: float) -> str:
    """Hours, or minutes below one hour."""
    return f"{hours:,.1f} h" if hours >= 1 else f"{hours * _MINUTES_PER_HOUR:.1f} min"


def _status_cells(stand: Recorded, state: Doing | None) -> list[str]:
    if stand.stage is CellStage.NOT_STARTED:
        return [state or stand.stage, "", "", "", ""]
    shown = state if state in (Doing.RUNNING, Doing.FAILED, Doing.NO_ROOM) else None
    phase = "" if stand.stage is CellStage.SEALED else f" ({stand.phase})"
    cells = [f"{shown or stand.stage}{phase}", f"${stand.spent_usd:.4f}", duration(stand.hours)]
    result = stand.result
    if result is None:
        return [*cells, "", ""]
    rate = result.selected_official.rate
    cells.append("withheld" if rate is None else f"{rate:.3f}")
    difference = result.official_difference
    if difference is None:
        return [*cells, "none"]
    gain = f"{difference.mean:+.3f} [{difference.interval_low:+.3f}, {difference.interval_high:+.3f}]"
    return [*cells, gain]


def _items(one: PowerPlan) -> str:
    return "no number is enough" if one.tasks_needed is None else f"{one.tasks_needed:,}"
