"""The list of runs: named once, found by name, summed up by the last event."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rsibench.errors import IntegrityError, SpecError
from rsibench.store.events import insert_event
from rsibench.store.rows import EventRow
from rsibench.store.runs import RunRow, RunSummary, add_run, get_run, list_runs
from rsibench.store.store import Store

FIRST = RunRow("pocket-a", datetime(2030, 1, 1, 12, 30, tzinfo=UTC), "pocket", "full", "feedback", 2**62, "0" * 64)
SECOND = FIRST._replace(run_id="pocket-b", created_at=datetime(2030, 1, 2, tzinfo=UTC), seed=0)


def test_runs_come_back_equal_and_oldest_first(store: Store) -> None:
    with store.transaction() as connection:
        for run in (SECOND, FIRST, SECOND):
            add_run(connection, run)
        for seq, kind in ((1, "run.planned"), (2, "budget.opened")):
            row = EventRow("pocket-b", seq, "2030-01-01T00:00:00.000000Z", 0, kind, b"{}", "0" * 64, "0" * 64)
            insert_event(connection, row)
    with store.reading() as connection:
        assert list_runs(connection) == [RunSummary(FIRST, 0, None), RunSummary(SECOND, 2, "budget.opened")]
        assert get_run(connection, "pocket-a") == FIRST


def test_a_taken_name_is_refused_for_another_run(store: Store) -> None:
    with store.transaction() as connection:
        add_run(connection, FIRST)
    with pytest.raises(IntegrityError, match="pocket-a"), store.transaction() as connection:
        add_run(connection, FIRST._replace(seed=7))


@pytest.mark.parametrize("name", ["", "Upper", "../escape", "a", "x" * 81, "with space", 'quo"te'])
def test_a_name_that_is_no_run_id_is_refused(store: Store, name: str) -> None:
    with pytest.raises(SpecError, match="run id"), store.transaction() as connection:
        add_run(connection, FIRST._replace(run_id=name))


def test_an_unknown_run_is_refused_with_the_nearest_name(store: Store) -> None:
    with store.transaction() as connection:
        add_run(connection, FIRST)
    with store.reading() as connection, pytest.raises(SpecError, match="did you mean pocket-a"):
        get_run(connection, "pocket-aa")
