"""The runs table: which runs this store holds. What became of a run is in its journal, never here."""

from __future__ import annotations

import difflib
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, RowMapping, and_, func, select

from rsibench.errors import IntegrityError, SpecError
from rsibench.ids import RUN_ID
from rsibench.store.dialect import insert_absent
from rsibench.store.schema import EVENTS, RUNS


class RunRow(NamedTuple):
    """One run. `created_at` is an aware datetime; everything else repeats the first event, for listing."""

    run_id: str
    created_at: datetime
    profile: str
    variant: str
    researcher: str
    seed: int
    protocol_digest: str


class RunSummary(NamedTuple):
    """A run and the last thing that its journal holds; `last_kind` None means that nothing was recorded yet."""

    run: RunRow
    events: int
    last_kind: str | None


def add_run(connection: Connection, run: RunRow) -> None:
    """Adds a run; adding an equal one again changes nothing.

    Raises SpecError for a name that cannot be a run id, and IntegrityError when the name belongs to a different run.
    """
    if RUN_ID.fullmatch(run.run_id) is None:
        fix = "use 3 to 80 lowercase letters, digits, dots, dashes or underscores"
        raise SpecError(f"{run.run_id!r} cannot name a run", where="run id", fix=fix)
    known = _find(connection, run.run_id)
    if known is None:
        insert_absent(connection, RUNS, {**run._asdict(), "created_at": run.created_at.isoformat()})
        known = _find(connection, run.run_id)
    if known != run:
        raise IntegrityError("the name belongs to a different run", where=f"run {run.run_id}", fix="choose a new name")


def get_run(connection: Connection, run_id: str) -> RunRow:
    """The run named `run_id`. Raises SpecError, with the nearest known name, when there is none."""
    run = _find(connection, run_id)
    if run is None:
        known = [str(name) for name in connection.execute(select(RUNS.c.run_id)).scalars()]
        close = difflib.get_close_matches(run_id, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"this store holds {len(known)} runs"
        raise SpecError("there is no such run", where=f"run {run_id}", fix=hint)
    return run


def list_runs(connection: Connection) -> list[RunSummary]:
    """Every run, oldest first, with the number of its events and the last event's kind."""
    counts = select(EVENTS.c.run_id, func.count().label("events"), func.max(EVENTS.c.seq).label("last"))
    heads = counts.group_by(EVENTS.c.run_id).subquery()
    joined = RUNS.outerjoin(heads, heads.c.run_id == RUNS.c.run_id).outerjoin(
        EVENTS, and_(EVENTS.c.run_id == RUNS.c.run_id, EVENTS.c.seq == heads.c.last)
    )
    query = select(*RUNS.c, func.coalesce(heads.c.events, 0).label("events"), EVENTS.c.kind.label("last_kind"))
    rows = connection.execute(query.select_from(joined).order_by(RUNS.c.created_at, RUNS.c.run_id))
    return [RunSummary(_run(row._mapping), row.events, row.last_kind) for row in rows]


def _find(connection: Connection, run_id: str) -> RunRow | None:
    row = connection.execute(select(*RUNS.c).where(RUNS.c.run_id == run_id)).one_or_none()
    return None if row is None else _run(row._mapping)


def _run(row: RowMapping) -> RunRow:
    return RunRow(
        run_id=row["run_id"],
        created_at=datetime.fromisoformat(row["created_at"]),
        profile=row["profile"],
        variant=row["variant"],
        researcher=row["researcher"],
        seed=row["seed"],
        protocol_digest=row["protocol_digest"],
    )
