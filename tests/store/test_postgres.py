"""The store on PostgreSQL: the same promises as on SQLite, for several machines at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from rsibench.errors import EnvironmentFault, IntegrityError
from rsibench.journal.chain import verify_chain
from rsibench.journal.events import IncidentRecorded
from rsibench.journal.journal import Journal
from rsibench.run.archive import open_archived, open_store
from rsibench.run.execute import execute
from rsibench.run.verify import verify
from rsibench.store.store import Store
from rsibench.testing.postgres import PostgresServer
from rsibench.testing.run_builder import RunBuilder
from rsibench.testing.runs import TinyRuns


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
def run(tmp_path: Path, url: str) -> Iterator[RunBuilder]:
    with RunBuilder(tmp_path, url=url) as built:
        built.prepare()
        yield built


def test_several_first_openers_migrate_once(url: str) -> None:
    gate = threading.Barrier(6)
    problems: list[BaseException] = []

    def open_it() -> None:
        gate.wait()
        try:
            Store.open(url).close()
        except BaseException as error:
            problems.append(error)

    openers = [threading.Thread(target=open_it) for _ in range(6)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
    assert problems == []
    store = Store.open(url)
    with store.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM alembic_version")).scalar() == 1
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET body = 'x'",
        "DELETE FROM events",
        "TRUNCATE events CASCADE",
        "DELETE FROM events WHERE seq = 1",
    ],
)
def test_events_cannot_be_changed_by_anybody(run: RunBuilder, statement: str) -> None:
    with pytest.raises(DatabaseError, match="append only"), run.store.transaction() as connection:
        connection.execute(text(statement))
    verify_chain(run.journal.rows())


def test_an_inner_step_that_fails_is_undone_alone(run: RunBuilder) -> None:
    before = run.journal.state().seq
    with run.store.transaction():
        run.journal.append(IncidentRecorded(incident="kept", detail=""))
        with pytest.raises(ValueError, match="a test"):
            _append_and_fail(run)
        run.journal.append(IncidentRecorded(incident="kept too", detail=""))
    assert [one.incident for one in run.journal.state().incidents] == ["kept", "kept too"]
    assert run.journal.state().seq == before + 2
    verify_chain(run.journal.rows())


def _append_and_fail(run: RunBuilder) -> None:
    with run.store.transaction():
        run.journal.append(IncidentRecorded(incident="undone", detail=""))
        raise ValueError("a test")


def _append_around_a_restart(run: RunBuilder, postgres: PostgresServer) -> None:
    with run.store.transaction():
        run.journal.append(IncidentRecorded(incident="lost", detail=""))
        postgres.restart()
        run.journal.append(IncidentRecorded(incident="lost too", detail=""))


def test_a_reader_sees_one_moment_and_waits_for_nobody(run: RunBuilder) -> None:
    count = text("SELECT count(*) FROM events")
    with run.store.reading() as connection:
        before = connection.execute(count).scalar()
        other = Store.open(run.url)
        Journal(other, run.run_id, run.clock).append(IncidentRecorded(incident="meanwhile", detail=""))
        other.close()
        assert connection.execute(count).scalar() == before
        with pytest.raises(DatabaseError):
            connection.execute(text("DELETE FROM base_scores"))


def test_writers_of_one_run_on_several_machines_make_one_chain(run: RunBuilder) -> None:
    stores = [Store.open(run.url) for _ in range(4)]
    gate = threading.Barrier(len(stores))

    def write(store: Store, number: int) -> None:
        journal = Journal(store, run.run_id, run.clock)
        gate.wait()
        for _ in range(25):
            journal.append(IncidentRecorded(incident=f"writer {number}", detail=""))

    writers = [threading.Thread(target=write, args=(store, number)) for number, store in enumerate(stores)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    for store in stores:
        store.close()
    assert len(run.journal.state().incidents) == 100
    verify_chain(run.journal.rows())


def test_a_restart_of_the_server_loses_nothing_that_was_recorded(run: RunBuilder, postgres: PostgresServer) -> None:
    run.journal.append(IncidentRecorded(incident="before", detail=""))
    with pytest.raises(EnvironmentFault, match="cannot be used"):
        _append_around_a_restart(run, postgres)
    run.journal.append(IncidentRecorded(incident="after", detail=""))
    assert [one.incident for one in run.journal.state().incidents] == ["before", "after"]
    verify_chain(run.journal.rows())


def test_a_whole_run_on_a_shared_database(tmp_path: Path, url: str) -> None:
    shared, alone = TinyRuns(tmp_path / "shared", url), TinyRuns(tmp_path / "alone")
    results = []
    for runs in (shared, alone):
        with runs.open(runs.plan("feedback", run_id="whole")) as context:
            results.append(execute(context))
        with open_archived(runs.home, "whole") as archived, open_store(runs.home) as store:
            assert verify(archived, store).ok
    assert results[0] == results[1]
    assert not shared.home.database.exists()


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("postgresql://somebody:s3cret@127.0.0.1:1/runs", "Connection refused"),
        ("postgresql://somebody:s3cret@127.0.0.1", "names no database"),
        ("mysql://somebody:s3cret@127.0.0.1/runs", "not supported"),
        ("s3cret", "not a database URL"),
    ],
)
def test_a_wrong_url_is_said_without_its_password(bad: str, says: str) -> None:
    with pytest.raises(EnvironmentFault, match=says) as caught:
        Store.open(bad)
    assert "s3cret" not in str(caught.value)


def test_a_database_that_is_not_there_and_a_user_that_may_not_write(postgres: PostgresServer, url: str) -> None:
    with pytest.raises(EnvironmentFault, match="does not exist"):
        Store.open(postgres.url("nowhere"))
    Store.open(url).close()
    name = url.rsplit("/", 1)[1]
    postgres.sql(f"CREATE ROLE reader_{name} LOGIN")
    postgres.sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader_{name}", name)
    store = Store.open(postgres.url(name, f"reader_{name}"))
    with pytest.raises(EnvironmentFault, match="cannot be written"), store.transaction() as connection:
        connection.execute(text("INSERT INTO base_scores VALUES ('a', 'b', 'c', 'd')"))
    store.close()


def test_another_programs_database_and_a_newer_schema_are_left_alone(postgres: PostgresServer, url: str) -> None:
    name = url.rsplit("/", 1)[1]
    postgres.sql("CREATE TABLE theirs (x int)", name)
    with pytest.raises(EnvironmentFault, match="some other program"):
        Store.open(url)
    newer = postgres.new_database()
    Store.open(newer).close()
    postgres.sql("UPDATE alembic_version SET version_num = '9999'", newer.rsplit("/", 1)[1])
    with pytest.raises(EnvironmentFault, match="newer version"):
        Store.open(newer)


def test_a_name_taken_by_another_run_is_refused_also_at_the_same_moment(tmp_path: Path, url: str) -> None:
    one, two = TinyRuns(tmp_path / "one", url), TinyRuns(tmp_path / "two", url)
    with one.open(one.plan("no-op", run_id="same-name")):
        pass
    with (
        pytest.raises(IntegrityError, match="belongs to a different run"),
        two.open(two.plan("one-shot", run_id="same-name")),
    ):
        pass
