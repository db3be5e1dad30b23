"""`rsibench status [RUN]`: all runs, or what one run has done so far."""

from __future__ import annotations

from rich.table import Table

from rsibench.cli.narrate import event_line
from rsibench.cli.output import console, print_json
from rsibench.journal.fold import fold
from rsibench.report.tables import attempts_table
from rsibench.run.archive import all_runs, open_archived
from rsibench.run.home import Home
from rsibench.run.summarise import attempt_summaries
from rsibench.spec.item import Split
from rsibench.spec.settings import runs_home
from rsibench.units import to_whole

_LAST_EVENTS = 8


def status(run: str | None = None, *, json: bool = False) -> None:
    """What a run has done and has left; without a name, all runs."""
    if run is None:
        _all(json)
    else:
        _one(run, json)


def _all(json: bool) -> None:
    runs = all_runs(Home(runs_home()))
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
    with open_archived(Home(runs_home()), run) as archived:
        entries = archived.entries()
        state = fold(entries, run)
        summaries = attempt_summaries(state, entries, archived.blobs)
    base = state.base.get(Split.SELECTION)
    balances = {account: balance for account, balance in state.balances.items() if balance.limit}
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
                "available": {a: to_whole(a, b.available) for a, b in balances.items()},
                "limits": {a: to_whole(a, b.limit) for a, b in balances.items()},
            }
        )
        return
    out = console()
    interrupted = f", interrupted (rsibench resume {run})" if state.interrupted else ""
    out.print(f"{run}: {state.phase}{interrupted}, {state.elapsed_ms / 1000:.0f} s of work", markup=False)
    chosen = state.committed.attempt if state.committed else None
    out.print(attempts_table(summaries, base.score if base else None, chosen))
    for account, balance in balances.items():
        left, limit = to_whole(account, balance.available), to_whole(account, balance.limit)
        out.print(f"  {account}: {left:g} of {limit:g} left", markup=False)
    for entry in entries[-_LAST_EVENTS:]:
        line = event_line(entry.event)
        if line:
            out.print(f"  {entry.at:%H:%M:%S}  {line}", markup=False)
