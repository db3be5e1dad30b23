"""`rsibench status [RUN]`: all runs, or what one run has done so far."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from rsibench.cli.here import here
from rsibench.cli.narrate import event_line
from rsibench.cli.output import console, print_json
from rsibench.journal.envelope import Entry
from rsibench.journal.events import ResearchStarted
from rsibench.journal.fold import fold
from rsibench.journal.state import Phase, RunState
from rsibench.report.tables import attempts_table
from rsibench.run.archive import all_runs, open_archived
from rsibench.run.summarise import attempt_summaries
from rsibench.spec.item import Split
from rsibench.units import Account, to_whole

_LAST_EVENTS = 8


def status(run: str | None = None, *, json: bool = False) -> None:
    """What a run has done and has left; without a name, all runs."""
    if run is None:
        _all(json)
    else:
        _one(run, json)


def _all(json: bool) -> None:
    runs = all_runs(here())
    if json:
        rows = [
            {
                **one.run._asdict(),
                "created_at": one.run.created_at.isoformat(),
                "events": one.events,
                "last": one.last_kind,
            }
            for one in runs
        ]
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("run", no_wrap=True)
    for heading in ("profile", "researcher", "seed", "last event", "protocol"):
        table.add_column(heading, overflow="fold")
    for one in runs:
        row = one.run
        profile = row.profile if row.variant == "full" else f"{row.profile} ({row.variant})"
        table.add_row(
            row.run_id, profile, row.researcher, str(row.seed), one.last_kind or "none", row.protocol_digest[:12]
        )
    console().print(table)


def _one(run: str, json: bool) -> None:
    with open_archived(here(), run) as archived:
        entries = archived.entries()
        state = fold(entries, run)
        summaries = attempt_summaries(state, entries, archived.blobs)
    base = state.base.get(Split.SELECTION)
    left = _left(entries, state)
    if json:
        print_json(
            {
                "run_id": run,
                "phase": state.phase,
                "interrupted": state.interrupted,
                "elapsed_seconds": state.elapsed_ms / 1000,
                "base_selection": base.score.model_dump(mode="json") if base else None,
                "attempts": [summary.model_dump(mode="json") for summary in summaries],
                "selected_attempt": state.committed.attempt if state.committed else None,
                "available": {account: to_whole(account, units) for account, units in left.items()},
                "limits": {account: to_whole(account, state.limits[account]) for account in left},
            }
        )
        return
    out = console()
    interrupted = f", interrupted (rsibench resume {run})" if state.interrupted else ""
    out.print(f"{run}: {state.phase}{interrupted}, {state.elapsed_ms / 1000:.0f} s of work", markup=False)
    chosen = state.committed.attempt if state.committed else None
    out.print(attempts_table(summaries, base.score if base else None, chosen))
    for account, units in left.items():
        limit = to_whole(account, state.limits[account])
        out.print(f"  {account}: {to_whole(account, units):g} of {limit:g} left", markup=False)
    for entry in entries[-_LAST_EVENTS:]:
        line = event_line(entry.event)
        if line:
            out.print(f"  {entry.at:%H:%M:%S}  {line}", markup=False)


def _left(entries: Sequence[Entry], state: RunState) -> dict[Account, int]:
    """Units left of every account with a budget; research time is held whole while it runs, its use is counted here."""
    left = {account: balance.available for account, balance in state.balances.items() if balance.limit}
    started = next((entry.elapsed_ms for entry in entries if isinstance(entry.event, ResearchStarted)), None)
    if started is not None and state.phase is Phase.RESEARCHING:
        left[Account.WALL] = max(0, state.limits[Account.WALL] - (state.elapsed_ms - started))
    return left
