"""Schemas of other versions, on both databases: an older one is brought up with its rows, a newer one is left alone."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest
from psycopg import sql
from sqlalchemy import inspect, text

from rsibench.errors import EnvironmentFault
from rsibench.store.dialect import make_engine, sqlite_url
from rsibench.store.migrate import HEAD, migrate
from rsibench.store.runs import RunRow, add_run, get_run
from rsibench.store.store import Store
from rsibench.testing.clock import FakeClock
from rsibench.testing.postgres import PostgresServer

RUN = RunRow("run-old", FakeClock().now(), "pocket", "full", "x", 1, "0" * 64)


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without any table, once of each kind."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "a.sqlite")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    return postgres.url(postgres.new_database())


def _make_old(url: str) -> None:
    """What version 0001 of the schema would have left, with one run."""
    engine = make_engine(url)
    with engine.begin() as connection:
        migrate(connection, url, to="0001")
        add_run(connection, RUN)
    engine.dispose()


def _tables(store: Store) -> set[str]:
    with store.reading() as connection:
        return set(inspect(connection).get_table_names())


def test_an_older_store_is_brought_up_and_keeps_its_rows(empty_url: str) -> None:
    _make_old(empty_url)
    with closing(Store.open(empty_url)) as store:
        assert "leases" in _tables(store)
        with store.reading() as connection:
            assert get_run(connection, RUN.run_id) == RUN
            assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == HEAD


def test_several_who_open_an_older_store_at_once_all_succeed(empty_url: str) -> None:
    _make_old(empty_url)
    faults: list[BaseException] = []

    def open_it() -> None:
        try:
            Store.open(empty_url).close()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_a_newer_store_is_refused_and_left_alone(empty_url: str) -> None:
    with closing(Store.open(empty_url)) as store, store.transaction() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(EnvironmentFault, match=rf"9999.*{HEAD}.*upgrade"):
        Store.open(empty_url)
    engine = make_engine(empty_url)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "9999"
    engine.dispose()


def test_a_postgres_database_of_another_program_is_left_alone(postgres: PostgresServer) -> None:
    name = postgres.new_database()
    postgres.execute(sql.SQL("CREATE TABLE notes (text TEXT)"), name)
    with pytest.raises(EnvironmentFault, match="some other program"):
        Store.open(postgres.url(name))
    assert postgres.execute(sql.SQL("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"), name) == [
        ("notes",)
    ]
