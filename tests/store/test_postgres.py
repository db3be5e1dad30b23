"""Postgres as a store: who waits for whom, what is refused and in which words, and a server that goes away."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing

import pytest
from psycopg import sql
from sqlalchemy import func, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from rsibench.errors import EnvironmentFault
from rsibench.errors import IntegrityError as WrongRecord
from rsibench.spec.item import Split
from rsibench.store.base_scores import BaseScore, keep_base_score
from rsibench.store.complaint import StoreUnreachable
from rsibench.store.events import insert_event
from rsibench.store.rows import EventRow
from rsibench.store.runs import RunRow, add_run
from rsibench.store.schema import BASE_SCORES, EVENTS
from rsibench.store.store import Store
from rsibench.testing.clock import FakeClock
from rsibench.testing.postgres import PostgresServer
from rsibench.testing.run_builder import make_score


def _put(store: Store, key: str, scope: str | None = None) -> None:
    with store.transaction(scope) as connection:
        row = {"cache_key": key, "split": "selection", "trials_blob": "0" * 64, "score": b"{}"}
        connection.execute(BASE_SCORES.insert().values(**row))


def _count(store: Store) -> int:
    with store.reading() as connection:
        return connection.execute(select(func.count()).select_from(BASE_SCORES)).scalar_one()


def _waits(store: Store, held: str | None, wanted: str | None) -> bool:
    """Whether a transaction on `wanted` waits for an open one on `held`."""
    done = threading.Event()

    def write() -> None:
        with store.transaction(wanted):
            done.set()

    writer = threading.Thread(target=write)
    with store.transaction(held):
        writer.start()
        at_once = done.wait(timeout=0.5)
    writer.join()
    return not at_once


def test_writers_of_different_runs_go_on_at_once_and_all_others_take_turns(postgres_store: Store) -> None:
    asked = [("a", "b"), ("a", "a"), ("a", None), (None, "a"), (None, None)]
    waits = {pair: _waits(postgres_store, *pair) for pair in asked}
    assert waits == {pair: pair != ("a", "b") for pair in asked}


def test_two_runs_that_each_also_need_the_other_are_told_and_not_stuck(postgres_store: Store) -> None:
    both = threading.Barrier(2)
    outcomes: list[str] = []

    def cross(mine: str, other: str) -> None:
        try:
            with postgres_store.transaction(mine):
                both.wait()
                with postgres_store.transaction(other):
                    outcomes.append("went through")
        except EnvironmentFault as fault:
            outcomes.append(fault.what.split(":")[0])

    threads = [threading.Thread(target=cross, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["two transactions waited for each other", "went through"]


def test_a_reader_keeps_its_view_and_cannot_write(postgres_store: Store) -> None:
    with postgres_store.reading() as connection:
        writer = threading.Thread(target=_put, args=(postgres_store, "later"))
        writer.start()
        writer.join()
        seen = connection.execute(select(func.count()).select_from(BASE_SCORES)).scalar_one()
    assert (seen, _count(postgres_store)) == (0, 1)
    with pytest.raises(EnvironmentFault, match="read only"), postgres_store.reading() as connection:
        connection.execute(BASE_SCORES.delete())


@pytest.mark.parametrize("statement", ["UPDATE events SET kind = 'x.y'", "DELETE FROM events", "TRUNCATE events"])
def test_events_are_append_only_whoever_connects(
    postgres: PostgresServer, postgres_store: Store, statement: str
) -> None:
    with postgres_store.transaction() as connection:
        add_run(connection, RunRow("run-a", FakeClock().now(), "pocket", "full", "x", 1, "0" * 64))
        insert_event(connection, EventRow("run-a", 1, "now", 0, "a.b", b"{}", "0" * 64, "1" * 64))
    with pytest.raises(IntegrityError, match="append only"), postgres_store.transaction() as connection:
        connection.execute(text(statement))
    with postgres_store.reading() as connection:
        assert connection.execute(select(EVENTS.c.kind)).scalars().all() == ["a.b"]


def test_commits_are_durable_whatever_the_server_was_set_to(postgres: PostgresServer) -> None:
    name = postgres.new_database()
    postgres.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(sql.Identifier(name)))
    with closing(Store.open(postgres.url(name))) as store, store.transaction() as connection:
        assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"


def test_the_schema_is_the_one_that_the_url_names(postgres: PostgresServer) -> None:
    name = postgres.new_database()
    url = f"{postgres.url(name)}?options=-csearch_path%3Dbench"
    with pytest.raises(EnvironmentFault, match="no such schema"):
        Store.open(url)
    postgres.execute(sql.SQL("CREATE SCHEMA bench"), name)
    Store.open(url).close()
    found = sql.SQL("SELECT DISTINCT schemaname FROM pg_tables WHERE tablename IN ('events', 'alembic_version')")
    assert postgres.execute(found, name) == [("bench",)]


def test_what_cannot_be_opened_says_why_and_never_the_password(postgres: PostgresServer) -> None:
    name = postgres.new_database()
    wrong = {
        "no such database": postgres.url("missing"),
        "refuses the user or password": postgres.url(name, password="hush-hush"),  # noqa: S106 - a wrong one
        "server is away": "postgresql://rsibench:hush-hush@127.0.0.1:1/x",
        "is not a database URL": "postgresql://rsibench:hush-hush@127.0.0.1:port/x",
        "not supported": "mysql://rsibench:hush-hush@127.0.0.1/x",
        "names no database": "postgresql://rsibench:hush-hush@127.0.0.1",
    }
    right = postgres.url(name).split(":")[2].split("@")[0]
    for what, url in wrong.items():
        with pytest.raises(EnvironmentFault, match=what) as caught:
            Store.open(url)
        assert "hush-hush" not in str(caught.value)
        assert right not in str(caught.value)


def test_a_read_only_database_is_refused_when_it_is_opened(postgres: PostgresServer, migrated_database: str) -> None:
    name = postgres.new_database(migrated_database)
    postgres.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(sql.Identifier(name)))
    with pytest.raises(EnvironmentFault, match="read only"):
        Store.open(postgres.url(name))


def test_a_user_without_rights_is_told_so(postgres: PostgresServer, migrated_database: str) -> None:
    name = postgres.new_database(migrated_database)
    postgres.execute(sql.SQL("CREATE ROLE guest LOGIN PASSWORD 'guest'"))
    try:
        with pytest.raises(EnvironmentFault, match="may not do this"):
            Store.open(f"postgresql://guest:guest@127.0.0.1:{postgres.port}/{name}")
    finally:
        postgres.execute(sql.SQL("DROP ROLE guest"))


def test_a_transaction_that_has_not_begun_waits_for_a_server_that_restarts(
    postgres: PostgresServer, postgres_store: Store
) -> None:
    _put(postgres_store, "before")
    postgres.restart()
    _put(postgres_store, "after")
    postgres.kill()
    starter = threading.Thread(target=postgres.start)
    starter.start()
    _put(postgres_store, "while it starts")
    starter.join()
    assert _count(postgres_store) == 3


def test_a_transaction_that_was_cut_off_leaves_nothing_and_says_so(
    postgres: PostgresServer, postgres_store: Store
) -> None:
    def write_while_the_server_restarts() -> None:
        with postgres_store.transaction("a"):
            _put(postgres_store, "lost")
            postgres.restart()
            _put(postgres_store, "lost too")

    with pytest.raises(StoreUnreachable, match="is away"):
        write_while_the_server_restarts()
    assert _count(postgres_store) == 0
    _put(postgres_store, "later")
    assert _count(postgres_store) == 1


def test_a_server_that_stays_away_is_reported(postgres: PostgresServer, postgres_url: str) -> None:
    with closing(Store.open(postgres_url, reconnect_seconds=0.2)) as store:
        postgres.stop()
        try:
            with pytest.raises(StoreUnreachable, match="check that the server runs"):
                _put(store, "never")
        finally:
            postgres.start()
        assert _count(store) == 0


def test_a_statement_that_breaks_a_rule_of_the_tables_is_no_complaint(postgres_store: Store) -> None:
    _put(postgres_store, "once")
    with pytest.raises(DBAPIError, match="pk_base_scores"):
        _put(postgres_store, "once")


def _at_once[T](store: Store, number: int, write: Callable[[int], T]) -> list[T]:
    """What several threads get that each write in a transaction of a scope of its own, all begun before any ends."""
    begun = threading.Barrier(number)
    got: list[T] = []

    def work(mine: int) -> None:
        with store.transaction(f"run-{mine}"):
            begun.wait()
            found = write(mine)
        got.append(found)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


def test_runs_that_score_the_same_base_at_once_keep_one_score(postgres_store: Store) -> None:
    def keep(mine: int) -> BaseScore:
        with postgres_store.transaction() as connection:
            return keep_base_score(connection, "key", Split.SELECTION, BaseScore(f"{mine}" * 64, make_score(mine, 10)))

    assert len(set(kept.trials_blob for kept in _at_once(postgres_store, 4, keep))) == 1


def test_a_run_that_several_add_at_once_is_added_once(postgres_store: Store) -> None:
    def add(seed: int) -> str:
        try:
            with postgres_store.transaction() as connection:
                add_run(connection, RunRow("run-a", FakeClock().now(), "pocket", "full", "x", seed // 2, "0" * 64))
        except WrongRecord:
            return "refused"
        return "added"

    assert Counter(_at_once(postgres_store, 4, add)) == {"added": 2, "refused": 2}
