"""The journal in a store: order, active time, refusal of impossible events, and what a rolled back write leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from rsibench.errors import IntegrityError, SpecError
from rsibench.ids import sha256_bytes
from rsibench.journal.chain import verify_chain
from rsibench.journal.envelope import Head, genesis_hash
from rsibench.journal.events import (
    IncidentRecorded,
    OfficialOpened,
    ResearchStarted,
    RunInterrupted,
    RunResumed,
)
from rsibench.journal.fold import fold
from rsibench.journal.journal import Journal
from rsibench.journal.state import Phase
from rsibench.store.store import Store
from rsibench.testing.run_builder import RunBuilder

ODD = IncidentRecorded(incident="odd", detail="seen")


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunBuilder]:
    """A prepared run."""
    with RunBuilder(tmp_path) as built:
        built.prepare()
        yield built


def test_an_unknown_run_has_no_journal(run: RunBuilder) -> None:
    with pytest.raises(SpecError, match="no such run"):
        Journal(run.store, "pocket-unknown", run.clock)


def test_a_new_journal_is_empty_and_its_head_is_the_runs_genesis(tmp_path: Path) -> None:
    with RunBuilder(tmp_path) as run:
        assert run.journal.head() == Head(0, genesis_hash(run.run_id))
        assert list(run.journal.entries()) == []
        assert run.journal.state().phase is Phase.EMPTY


def test_what_was_appended_is_read_back_in_order(run: RunBuilder) -> None:
    before = run.journal.head().seq
    appended = [run.journal.append(ODD) for _ in range(3)]
    assert list(run.journal.entries(after=before)) == appended
    assert run.journal.head() == Head(appended[-1].seq, appended[-1].hash)


def test_active_time_goes_on_where_the_last_controller_stopped(run: RunBuilder) -> None:
    run.clock.advance(10)
    stopped = run.journal.append(RunInterrupted(reason="operator"))
    run.clock.advance(3_600)
    later = Journal(run.store, run.run_id, run.clock)
    run.clock.advance(2.5)
    resumed = later.append(RunResumed())
    assert resumed.elapsed_ms - stopped.elapsed_ms == 2_500
    assert resumed.at - stopped.at == timedelta(seconds=3_602.5)
    assert later.elapsed_ms() == resumed.elapsed_ms


def test_a_wall_clock_that_is_set_back_gives_no_time_away(run: RunBuilder) -> None:
    first = run.journal.append(ODD)
    run.clock.advance(5)
    run.clock.turn_back(86_400)
    second = run.journal.append(ODD)
    assert second.elapsed_ms - first.elapsed_ms == 5_000
    assert second.at < first.at
    assert verify_chain(run.journal.rows()).events == second.seq


def test_two_controllers_by_mistake_still_make_one_chain(run: RunBuilder) -> None:
    run.clock.advance(100)
    run.journal.append(ODD)
    other = Journal(run.store, run.run_id, run.clock)
    for journal in (run.journal, other, run.journal, other):
        run.clock.advance(1)
        journal.append(ODD)
    verify_chain(run.journal.rows())
    assert run.journal.state() == other.state() == fold(run.journal.entries())


def test_an_impossible_event_is_refused_and_not_written(run: RunBuilder) -> None:
    before = run.journal.head()
    with pytest.raises(IntegrityError, match=r"official\.opened.*the run is preparing"):
        run.journal.append(OfficialOpened())
    assert run.journal.head() == before
    run.journal.append(ResearchStarted())
    assert run.journal.state().phase is Phase.RESEARCHING


def test_a_rolled_back_event_is_forgotten_by_the_state_too(run: RunBuilder) -> None:
    def append_and_fail() -> None:
        with run.store.transaction():
            run.journal.append(ResearchStarted())
            assert run.journal.state().phase is Phase.RESEARCHING
            raise KeyError

    before = run.journal.state()
    with pytest.raises(KeyError):
        append_and_fail()
    assert run.journal.state() == before
    again = run.journal.append(ResearchStarted())
    assert again.seq == before.seq + 1
    assert run.journal.state() == fold(run.journal.entries())


@pytest.mark.parametrize("others", [1, 2])
def test_what_another_controller_wrote_in_place_of_a_rolled_back_event_is_seen(run: RunBuilder, others: int) -> None:
    def append_and_fail() -> None:
        with run.store.transaction():
            run.journal.append(ResearchStarted())
            raise KeyError

    with pytest.raises(KeyError):
        append_and_fail()
    other = Journal(run.store, run.run_id, run.clock)
    for _ in range(others):
        other.append(ODD)
    assert run.journal.state() == fold(run.journal.entries())
    assert run.journal.state().phase is Phase.PREPARING


def test_another_thread_does_not_see_what_is_not_committed(run: RunBuilder) -> None:
    phases: list[Phase] = []
    with run.store.transaction():
        run.journal.append(ResearchStarted())
        reader = threading.Thread(target=lambda: phases.append(run.journal.state().phase))
        reader.start()
        reader.join()
    assert phases == [Phase.PREPARING]
    assert run.journal.state().phase is Phase.RESEARCHING


def test_threads_append_to_one_chain(run: RunBuilder) -> None:
    writers = [threading.Thread(target=lambda: [run.journal.append(ODD) for _ in range(10)]) for _ in range(4)]
    before = run.journal.head().seq
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert verify_chain(run.journal.rows()).events == before + 40
    assert len(run.journal.state().incidents) == 40


def test_runs_in_one_store_do_not_touch_each_other(run: RunBuilder, tmp_path: Path) -> None:
    with RunBuilder(tmp_path, run_id="pocket-built-2") as other:
        other.prepare()
        run.journal.append(ODD)
        assert verify_chain(other.journal.rows()).run_id == "pocket-built-2"
        assert other.journal.state().incidents == ()


def test_a_plan_is_folded_from_its_event(run: RunBuilder) -> None:
    plan = run.journal.state().plan
    assert plan is not None
    assert plan.protocol_digest == sha256_bytes(b"protocol")


class CountingStore(Store):
    """A real store that counts how often it was read."""

    readings = 0

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        self.readings += 1
        with super().reading() as connection:
            yield connection


def test_a_state_beside_another_threads_uncommitted_append_is_not_folded_again(tmp_path: Path) -> None:
    with RunBuilder(tmp_path) as run, closing(CountingStore.open(run.store.url)) as store:
        run.prepare()
        journal = Journal(store, run.run_id, run.clock)
        before = journal.state()
        readings: list[int] = []

        def look() -> None:
            store.readings = 0
            assert journal.state() == before
            readings.append(store.readings)

        with store.transaction(run.run_id):
            journal.append(ODD)
            reader = threading.Thread(target=look)
            reader.start()
            reader.join()
        assert readings == [1], "one reading finds the head; pages of events would be more"
        assert journal.state().seq == before.seq + 1


def test_states_of_a_rolled_back_append_are_forgotten(run: RunBuilder) -> None:
    before = run.journal.state()

    def append_and_fail() -> None:
        with run.store.transaction(run.run_id):
            run.journal.append(ODD)
            run.journal.append(ODD)
            raise KeyError

    with pytest.raises(KeyError):
        append_and_fail()
    assert run.journal.state() == before
    run.journal.append(IncidentRecorded(incident="other", detail="instead"))
    run.journal.append(IncidentRecorded(incident="other", detail="and again"))
    assert run.journal.state() == fold(run.journal.entries())
