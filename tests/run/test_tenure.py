"""One controller a run, on whatever machine: others are refused, a dead one is replaced, a zombie writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rsibench.errors import LabError
from rsibench.journal.events import IncidentRecorded
from rsibench.journal.journal import Journal
from rsibench.run.tenure import alone_here, tenure
from rsibench.store.leases import lease_rows
from rsibench.store.store import Store
from rsibench.testing.run_builder import RunBuilder
from rsibench.testing.runs import TinyRuns


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunBuilder]:
    with RunBuilder(tmp_path) as built:
        built.prepare()
        yield built


def test_a_second_controller_elsewhere_is_refused_and_told_where_the_first_is(run: RunBuilder, tmp_path: Path) -> None:
    other = Store.open(run.store.url)
    with tenure(run.store, run.run_id, tmp_path / "here"):
        with pytest.raises(LabError, match="here") as caught, tenure(other, run.run_id, tmp_path / "there"):
            pass
        assert caught.value.code == "in-use"
    with tenure(other, run.run_id, tmp_path / "there"):
        pass  # the first one has given it back
    other.close()


def test_what_a_dead_controller_of_the_same_place_held_is_taken_over_at_once(run: RunBuilder, tmp_path: Path) -> None:
    dead = tenure(run.store, run.run_id, tmp_path)
    old = Journal(run.store, run.run_id, run.clock, dead.__enter__())
    old.append(IncidentRecorded(incident="alive", detail=""))
    heir = Store.open(run.store.url)
    with tenure(heir, run.run_id, tmp_path) as fence:
        Journal(heir, run.run_id, run.clock, fence).append(IncidentRecorded(incident="heir", detail=""))
        with pytest.raises(LabError, match="no longer holds it"):
            old.append(IncidentRecorded(incident="zombie", detail=""))
    dead.__exit__(None, None, None)
    heir.close()
    assert [one.incident for one in run.journal.state().incidents] == ["alive", "heir"]


def test_a_lease_is_renewed_while_it_is_held(run: RunBuilder, tmp_path: Path) -> None:
    def ends() -> object:
        with run.store.reading() as connection:
            (row,) = lease_rows(connection)
        return row.expires_at

    with tenure(run.store, run.run_id, tmp_path, ttl_seconds=0.2):
        first = ends()
        while ends() == first:
            run.clock.sleep(0.01)


def test_a_controller_that_lost_its_lease_ends_and_what_the_new_one_does_stands(tmp_path: Path) -> None:
    runs = TinyRuns(tmp_path)
    with runs.open(runs.plan("no-op", run_id="moved")) as context:
        other = Store.open(runs.home.store_url)
        # as after a takeover from the same folder
        with tenure(other, "moved", runs.home.run("moved").root), pytest.raises(LabError, match="no longer holds it"):
            context.journal.append(IncidentRecorded(incident="zombie", detail=""))
        other.close()


def test_two_processes_of_one_folder_exclude_each_other(tmp_path: Path) -> None:
    with (
        alone_here(tmp_path / "lock", "one"),
        pytest.raises(LabError, match="another process"),
        alone_here(tmp_path / "lock", "one"),
    ):
        pass
