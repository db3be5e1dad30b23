"""Leases: one holder at a time, a token that grows, and a holder that was replaced can write nothing more."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rsibench.errors import LabError
from rsibench.journal.events import IncidentRecorded
from rsibench.journal.journal import Journal
from rsibench.store.dialect import sqlite_url
from rsibench.store.leases import Lease, acquire, check, database_time, fence_of, lease_rows, release, renew
from rsibench.store.store import Store
from rsibench.testing.run_builder import RunBuilder

START = datetime(2030, 1, 1, tzinfo=UTC)
TTL_SECONDS = 60.0
LATER = START + timedelta(seconds=TTL_SECONDS)


def _acquire(store: Store, holder: str, now: datetime = START, name: str = "run/a") -> Lease | None:
    with store.transaction(name) as connection:
        return acquire(connection, name, holder, now=now, ttl_seconds=TTL_SECONDS)


def _holds(store: Store, lease: Lease) -> bool:
    try:
        with store.transaction(lease.name) as connection:
            check(connection, lease)
    except LabError as error:
        if error.code != "lease-lost":
            raise
        return False
    return True


def test_a_live_lease_is_refused_to_others_and_kept_by_its_holder(store: Store) -> None:
    first = _acquire(store, "one")
    assert first == Lease("run/a", "one", 1)
    assert _acquire(store, "two", LATER - timedelta(microseconds=1)) is None
    assert _acquire(store, "one", LATER - timedelta(microseconds=1)) == first
    assert _acquire(store, "two", LATER) is None, "keeping it prolonged it"
    assert _acquire(store, "two", name="run/b") == Lease("run/b", "two", 1)


def test_a_lease_that_ran_out_goes_to_the_next_with_a_higher_token(store: Store) -> None:
    first = _acquire(store, "one")
    assert first is not None
    second = _acquire(store, "two", LATER)
    assert second == Lease("run/a", "two", 2)
    with store.transaction() as connection:
        assert not renew(connection, first, now=LATER, ttl_seconds=TTL_SECONDS)
        release(connection, first)  # must not take it from its new holder
    assert (_holds(store, first), _holds(store, second)) == (False, True)


def test_a_lease_that_ran_out_unnoticed_can_still_be_renewed_and_checked(store: Store) -> None:
    first = _acquire(store, "one")
    assert first is not None
    assert _holds(store, first)
    with store.transaction() as connection:
        assert renew(connection, first, now=LATER + timedelta(seconds=5), ttl_seconds=TTL_SECONDS)
    assert _acquire(store, "two", LATER + timedelta(seconds=TTL_SECONDS)) is None


def test_a_released_lease_is_free_at_once_and_never_repeats_a_token(store: Store) -> None:
    first = _acquire(store, "one")
    assert first is not None
    with store.transaction() as connection:
        release(connection, first)
        assert [(row.holder, row.token) for row in lease_rows(connection)] == [(None, 1)]
    assert not _holds(store, first)
    assert _acquire(store, "one") == Lease("run/a", "one", 2)
    assert not _holds(store, first), "the same holder under an older token is somebody else"


@pytest.mark.parametrize(("holder", "ttl_seconds"), [("", 1.0), ("one", 0.0), ("one", -1.0)])
def test_a_lease_without_holder_or_time_is_refused(store: Store, holder: str, ttl_seconds: float) -> None:
    with pytest.raises(ValueError, match="a lease needs"), store.transaction() as connection:
        acquire(connection, "run/a", holder, now=START, ttl_seconds=ttl_seconds)


def test_of_many_who_try_at_once_one_gets_it(store: Store) -> None:
    _acquire(store, "gone")
    gate = threading.Barrier(6)
    got: list[str] = []

    def attempt(number: int) -> None:
        gate.wait()
        lease = None
        # No common scope: the statement itself must decide.
        with store.transaction(f"worker-{number}") as connection:
            lease = acquire(connection, "run/a", f"worker-{number}", now=LATER, ttl_seconds=TTL_SECONDS)
        got.append("refused" if lease is None else f"token {lease.token}")

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(got) == {"token 2": 1, "refused": 5}


def test_the_databases_clock_is_aware_and_does_not_stand_still(store: Store) -> None:
    with store.transaction() as connection:
        first, second = database_time(connection), database_time(connection)
    assert first.utcoffset() == timedelta(0)
    assert first <= second


def test_a_controller_that_lost_its_lease_writes_nothing(tmp_path: Path) -> None:
    with RunBuilder(tmp_path) as run:
        run.prepare()
        zombies = _acquire(run.store, "zombie")
        assert zombies is not None
        zombie = Journal(run.store, run.run_id, run.clock, fence_of(zombies))
        zombie.append(IncidentRecorded(incident="odd", detail="while it held the lease"))
        heirs = _acquire(run.store, "heir", LATER)
        assert heirs is not None
        before = run.journal.head()
        with pytest.raises(LabError, match="no longer holds it"):
            zombie.append(IncidentRecorded(incident="odd", detail="too late"))
        assert run.journal.head() == before
        Journal(run.store, run.run_id, run.clock, fence_of(heirs)).append(
            IncidentRecorded(incident="odd", detail="heir")
        )
        assert run.journal.head().seq == before.seq + 1


def test_on_postgres_a_lease_stays_until_the_write_that_checked_it_is_committed(postgres_store: Store) -> None:
    first = _acquire(postgres_store, "one")
    assert first is not None
    order: list[str] = []

    def take_over() -> None:
        if _acquire(postgres_store, "two", LATER) is not None:
            order.append("taken over")

    with postgres_store.transaction("run/other") as connection:
        check(connection, first)
        heir = threading.Thread(target=take_over)
        heir.start()
        heir.join(timeout=0.3)  # it must still wait; a faster machine cannot make this pass wrongly
        assert order == []
        order.append("written")
    heir.join()
    assert order == ["written", "taken over"]


class LeaseMachine(RuleBasedStateMachine):
    """Any order of calls by three holders: what the model says is what the table does."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile  # noqa: PLC0415 - a folder for each example

        self._folder = tempfile.TemporaryDirectory()
        self.store = Store.open(sqlite_url(Path(self._folder.name) / "a.sqlite"))
        self.now = START
        self.holder: str | None = None
        self.until = START
        self.token = 0
        self.leases: list[Lease] = []

    def teardown(self) -> None:
        self.store.close()
        self._folder.cleanup()

    @rule(seconds=st.integers(min_value=0, max_value=90))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(holder=st.sampled_from(["one", "two", "three"]))
    def acquire(self, holder: str) -> None:
        free = self.holder is None or self.now >= self.until
        lease = _acquire(self.store, holder, self.now)
        assert (lease is not None) == (free or self.holder == holder)
        if lease is not None:
            self.token += self.holder != holder
            assert lease.token == self.token
            self.holder, self.until = holder, self.now + timedelta(seconds=TTL_SECONDS)
            self.leases.append(lease)

    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        if self.leases:
            lease = data.draw(st.sampled_from(self.leases))
            with self.store.transaction() as connection:
                release(connection, lease)
            if lease.token == self.token:
                self.holder = None

    @invariant()
    def only_the_current_lease_may_write(self) -> None:
        for lease in self.leases:
            current = lease.token == self.token and lease.holder == self.holder
            assert _holds(self.store, lease) == current


TestLeaseMachine = LeaseMachine.TestCase
TestLeaseMachine.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
