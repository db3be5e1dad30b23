"""`rsibench campaign plan|run|status|resume|cancel`: a matrix of runs from a YAML file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live

from rsibench.campaign.cell import Cell, cells
from rsibench.campaign.controller import Controller, Doing, WorstCase
from rsibench.campaign.eta import seconds_left
from rsibench.campaign.folder import CampaignFolder
from rsibench.campaign.launcher import ProcessLauncher
from rsibench.campaign.plan import CampaignPlan, plan_campaign
from rsibench.campaign.recorded import CellStage, Recorded, open_recorded
from rsibench.cli.here import here
from rsibench.cli.output import console, print_json
from rsibench.cli.stoppable import stoppable
from rsibench.errors import EnvironmentFault, InfrastructureFailure, SpecError
from rsibench.ports.clock import SystemClock
from rsibench.report.campaign_tables import amounts, limits_text, plan_table, power_table, status_table
from rsibench.researchers.catalogue import require_known, researcher_command
from rsibench.run.plan import Asked, Planned, plan_run
from rsibench.spec.campaign import CampaignSpec
from rsibench.spec.catalogue import load_campaign
from rsibench.spec.settings import cache_folder

INTERRUPTED = 130
_WATCH_SECONDS = 2.0
_FAILED = InfrastructureFailure.exit_code


def plan(campaign: str, *, json: bool = False) -> None:
    """What a campaign would run, what that costs, and what it could find. Starts nothing.

    Parameters
    ----------
    campaign
        A shipped campaign, or a YAML file.
    json
        Print the plan as JSON, one entry a cell.
    """
    spec = load_campaign(campaign)
    planned = _plan(spec)
    if json:
        print_json(planned)
        return
    out = console()
    out.print(f"{planned.name}: {planned.title}", markup=False)
    out.print(plan_table(planned))
    parts = [f"{len(planned.cells)} cells, worst case {amounts(planned.worst_usd, planned.worst_hours)}"]
    parts.append(f"expected {amounts(planned.expected_usd, planned.expected_hours)}")
    if limits_text(planned):
        parts.append(f"shared limits {limits_text(planned)}")
    out.print("; ".join(parts), markup=False)
    out.print()
    out.print(power_table(planned))
    assumed = ", ".join(f"{name} {value:g}" for name, value in planned.assumptions.items())
    for one in planned.power:
        out.print(f"{one.profile}: rate {one.rate:.2f} is the {one.rate_from}", markup=False)
    out.print(f"two-sided 5 % tests between two researchers on the same items; assumed: {assumed}", markup=False)
    for obstacle in planned.obstacles:
        out.print(f"cannot run here: {obstacle}", markup=False)


def run(campaign: str, *, parallel: int | None = None, where_possible: bool = False, json: bool = False) -> int:
    """Run every cell of a campaign that is not finished; one that fails does not stop the others.

    Parameters
    ----------
    campaign
        A shipped campaign, or a YAML file.
    parallel
        How many cells run at once in place of what the file says.
    where_possible
        Run the cells that can run here when others cannot, instead of refusing the whole campaign.
    json
        Print where every cell stands as JSON at the end.
    """
    spec = load_campaign(campaign)
    if parallel is not None:
        spec = spec.model_copy(update={"parallel": max(1, parallel)})
    planned = _plan(spec)
    if planned.obstacles and not where_possible:
        stuck = sum(cell.obstacle is not None for cell in planned.cells)
        raise EnvironmentFault(
            f"{stuck} of {len(planned.cells)} cells cannot run here; the first reason: {planned.obstacles[0]}",
            where=f"campaign {spec.name}",
            fix="`rsibench campaign plan` lists every reason; --where-possible runs the others",
        )
    folder = CampaignFolder(here(), spec.name)
    folder.begin(spec)
    folder.uncancel()
    out = Console(stderr=True, highlight=False) if json else console()
    try:
        with stoppable(), folder.driven():
            done = _drive(spec, planned, folder, out)
    except KeyboardInterrupt:
        out.print(f"\ninterrupted; continue with: rsibench campaign resume {campaign}", markup=False)
        return INTERRUPTED
    if json:
        _print_status(spec)
    return 0 if done else INTERRUPTED if folder.cancelled else _FAILED


def resume(campaign: str, *, parallel: int | None = None, where_possible: bool = False, json: bool = False) -> int:
    """Continue a campaign: open cells go on, failed and waiting ones are tried, finished ones stay as they are."""
    return run(campaign, parallel=parallel, where_possible=where_possible, json=json)


def status(campaign: str, *, watch: bool = False, json: bool = False) -> None:
    """Where every cell of a campaign stands, what is spent, and how long it may still take.

    Parameters
    ----------
    campaign
        A shipped campaign, or a YAML file.
    watch
        Show it again every two seconds, until no process drives the campaign.
    json
        Print it as JSON.
    """
    spec = load_campaign(campaign)
    if json:
        _print_status(spec)
        return
    folder = CampaignFolder(here(), spec.name)
    out, clock = console(), SystemClock()
    if not watch:
        out.print(_status(spec, folder, {}))
        return
    with Live(console=out, auto_refresh=False) as live:
        while True:
            live.update(_status(spec, folder, {}), refresh=True)
            if not folder.is_driven:
                return
            clock.sleep(_WATCH_SECONDS)


def cancel(campaign: str) -> None:
    """Stop a campaign in an orderly way: running cells become resumable, waiting ones are not started."""
    spec = load_campaign(campaign)
    folder = CampaignFolder(here(), spec.name)
    if folder.asked() is None:
        raise SpecError("it was never begun here", where=f"campaign {spec.name}", fix="there is nothing to stop")
    folder.cancel()
    out = console()
    if not folder.is_driven:
        out.print(f"{spec.name}: no process drives it; `rsibench campaign resume` would take it up again", markup=False)
    else:
        out.print(f"{spec.name}: its running cells are being stopped", markup=False)


def _plan(spec: CampaignSpec) -> CampaignPlan:
    """Planned against what is recorded here. Raises SpecError for a researcher that there is not."""
    clock = SystemClock()
    for researcher in spec.researchers:
        require_known(researcher)

    def plan_cell(cell: Cell) -> Planned:
        researcher_command(cell.researcher, cell.seed)
        asked = Asked(
            profile=cell.profile.profile,
            researcher=cell.researcher,
            seed=cell.seed,
            quick=cell.profile.quick,
            model=cell.profile.model,
            run_id=cell.run_id,
            budget=cell.budget.change,
        )
        return plan_run(asked, cache_folder(), clock)

    with open_recorded(here(), clock) as recorded:
        return plan_campaign(spec, plan_cell, recorded)


def _drive(spec: CampaignSpec, planned: CampaignPlan, folder: CampaignFolder, out: Console) -> bool:
    """Runs the cells with a live table; False when some are not sealed at the end."""
    worst = {
        cell.run_id: WorstCase(cell.worst_usd, cell.worst_hours)
        for cell in planned.cells
        if cell.worst_usd is not None and cell.worst_hours is not None
    }
    obstacles = {cell.run_id: cell.obstacle for cell in planned.cells if cell.obstacle is not None}
    clock = SystemClock()
    with open_recorded(here(), clock, make=True) as recorded:
        controller = Controller(
            cells(spec),
            worst,
            obstacles,
            spec.limits,
            ProcessLauncher(folder.logs, spec.options),
            recorded,
            clock,
            parallel=spec.parallel,
        )
        with _shown(spec, folder, out) as show:
            return controller.drive(lambda: folder.cancelled, show)


@contextmanager
def _shown(spec: CampaignSpec, folder: CampaignFolder, out: Console) -> Iterator[Callable[[Controller], None]]:
    """A live table on a terminal, elsewhere a line whenever a cell begins or ends; at the end the table once more."""
    last: dict[str, tuple[Doing, str]] = {}
    live = Live(console=out, auto_refresh=False, transient=True) if out.is_terminal else None

    def show(controller: Controller) -> None:
        now = {run_id: (one.doing, one.said) for run_id, one in controller.progress.items()}
        if live is not None:
            live.update(_status(spec, folder, now), refresh=True)
        else:
            for run_id, (doing, said) in now.items():
                if last.get(run_id, (Doing.WAITING, ""))[0] is not doing:
                    out.print(f"{run_id}: {doing}{f', {said}' if said else ''}", markup=False)
        last.update(now)

    if live is None:
        yield show
    else:
        with live:
            yield show
    out.print(_status(spec, folder, last))


def _status(spec: CampaignSpec, folder: CampaignFolder, doing: dict[str, tuple[Doing, str]]) -> Group:
    stands = _stands(spec)
    sealed = sum(one.stage is CellStage.SEALED for one in stands.values())
    spent = sum(one.spent_usd for one in stands.values())
    left = seconds_left(stands, stands, spec.parallel)
    eta = "" if left is None or sealed == len(stands) else f", about {left / 60:.0f} min left at this pace"
    driven = "" if sealed == len(stands) else ", being driven" if folder.is_driven else ", no process drives it"
    return Group(
        status_table(stands, doing),
        f"{spec.name}: {sealed} of {len(stands)} cells finished, ${spent:.4f} spent{eta}{driven}",
    )


def _stands(spec: CampaignSpec) -> dict[str, Recorded]:
    with open_recorded(here(), SystemClock()) as recorded:
        return recorded.of(cell.run_id for cell in cells(spec))


def _print_status(spec: CampaignSpec) -> None:
    stands = _stands(spec)
    print_json(
        {
            "campaign": spec.name,
            "finished": sum(one.stage is CellStage.SEALED for one in stands.values()),
            "spent_usd": str(sum(one.spent_usd for one in stands.values())),
            "seconds_left": seconds_left(stands, stands, spec.parallel),
            "cells": [
                {
                    "run_id": run_id,
                    "stage": one.stage,
                    "phase": one.phase,
                    "attempts": one.attempts,
                    "hours": one.hours,
                    "spent_usd": str(one.spent_usd),
                    "result": one.result.model_dump(mode="json") if one.result else None,
                }
                for run_id, one in stands.items()
            ],
        }
    )
