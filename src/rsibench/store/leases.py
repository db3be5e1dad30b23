"""Leases: who may work on something, across processes and machines, with a token that fences off whoever lost it.

Invariant: a lease's token grows by one whenever another holder gets it, so that work done under an older token can be
refused inside the transaction that would record it (`check`). Safety rests on the token alone; time decides only when
a silent holder may be replaced. All who share a lease must use one clock: pass `database_time`, which is the server's
on Postgres and the machine's own on SQLite, where there is one machine. A clock that is wrong then makes a lease pass
on too early or too late, and still lets no two holders write.

A holder is one life of one process: a process that was started again must come under another name, or its former self
would hold the same token. Not here: when to renew, and what a holder does.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, or_, select, update

from rsibench.errors import LabError
from rsibench.store.dialect import insert_absent
from rsibench.store.schema import LEASES

_NOBODY = ""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TOKEN = (
    select(LEASES.c.token)
    .where(LEASES.c.name == bindparam("of_name"), LEASES.c.holder == bindparam("of_holder"))
    # On Postgres nobody can take the lease over until the transaction that looked has ended.
    .with_for_update(read=True)
)


type Fence = Callable[[Connection], None]
"""Raises unless this process may still write; a journal calls it inside the transaction of every append."""


class Lease(NamedTuple):
    """The right of `holder` to work on `name` while `token` is the current one."""

    name: str
    holder: str
    token: int


class LeaseRow(NamedTuple):
    """A lease as it stands; `holder` is None when it was released."""

    name: str
    holder: str | None
    token: int
    expires_at: datetime


def database_time(connection: Connection) -> datetime:
    """The clock that all who use this database share, aware UTC."""
    if connection.dialect.name == "sqlite":
        return datetime.now(UTC)
    moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return moment.astimezone(UTC)


def acquire(connection: Connection, name: str, holder: str, *, now: datetime, ttl_seconds: float) -> Lease | None:
    """Takes or keeps the lease until `ttl_seconds` from `now`; None while another holder's has not run out.

    The holder that has it already keeps its token. Raises ValueError for an empty holder or a ttl that is not positive.
    """
    if not holder or ttl_seconds <= 0:
        raise ValueError(f"a lease needs a holder and a time above zero, not {holder!r} and {ttl_seconds}")
    until = _microseconds(now + timedelta(seconds=ttl_seconds))
    values = {"name": name, "holder": holder, "token": 1, "expires_at_us": until}
    if insert_absent(connection, LEASES, values):
        return Lease(name, holder, 1)
    # One conditional statement each: of several who try at once the database lets one through.
    of_name = LEASES.c.name == name
    kept = update(LEASES).where(of_name, LEASES.c.holder == holder).values(expires_at_us=until)
    token = connection.execute(kept.returning(LEASES.c.token)).scalar_one_or_none()
    if token is None:
        free = or_(LEASES.c.holder == _NOBODY, LEASES.c.expires_at_us <= _microseconds(now))
        taken = update(LEASES).where(of_name, LEASES.c.holder != holder, free)
        values = {"holder": holder, "token": LEASES.c.token + 1, "expires_at_us": until}
        token = connection.execute(taken.values(values).returning(LEASES.c.token)).scalar_one_or_none()
    return None if token is None else Lease(name, holder, token)


def renew(connection: Connection, lease: Lease, *, now: datetime, ttl_seconds: float) -> bool:
    """Prolongs a lease, also one that has run out and that nobody took; False when it is lost."""
    until = _microseconds(now + timedelta(seconds=ttl_seconds))
    statement = update(LEASES).where(_current(lease)).values(expires_at_us=until)
    return connection.execute(statement).rowcount == 1


def release(connection: Connection, lease: Lease) -> None:
    """Gives a lease back, so that the next one need not wait; does nothing when it is lost already."""
    connection.execute(update(LEASES).where(_current(lease)).values(holder=_NOBODY, expires_at_us=0))


def check(connection: Connection, lease: Lease) -> None:
    """Raises LabError (code `lease-lost`) unless `lease` is the current one.

    Run it inside the transaction that writes: on Postgres the lease cannot change hands before that one has ended. A
    lease whose time is over but which nobody took is still the current one.
    """
    token = connection.execute(_TOKEN, {"of_name": lease.name, "of_holder": lease.holder}).scalar_one_or_none()
    if token != lease.token:
        what = f"{lease.holder} no longer holds it, so nothing was written"
        fix = "another process has taken the work over; let this one end"
        raise LabError(what, code="lease-lost", where=f"lease {lease.name}, token {lease.token}", fix=fix)


def fence_of(lease: Lease) -> Fence:
    """The fence of whoever holds `lease`, for `Journal(fence=...)`."""
    return lambda connection: check(connection, lease)


def lease_rows(connection: Connection) -> list[LeaseRow]:
    """Every lease by name, for whoever looks for holders that went silent."""
    query = select(LEASES.c.name, LEASES.c.holder, LEASES.c.token, LEASES.c.expires_at_us).order_by(LEASES.c.name)
    return [
        LeaseRow(row[0], row[1] or None, row[2], _EPOCH + timedelta(microseconds=row[3]))
        for row in connection.execute(query)
    ]


def _current(lease: Lease) -> ColumnElement[bool]:
    return and_(LEASES.c.name == lease.name, LEASES.c.holder == lease.holder, LEASES.c.token == lease.token)


def _microseconds(moment: datetime) -> int:
    """Whole microseconds since 1970; a datetime that knows no zone is a TypeError."""
    return (moment - _EPOCH) // timedelta(microseconds=1)
