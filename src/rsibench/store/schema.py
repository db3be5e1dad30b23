"""Tables of the store, as SQLAlchemy Core metadata. Portable: nothing here is special to one database.

Invariant: no balance can be negative and no amount can exceed its limit, because CHECK constraints say so, whatever the
program above does. Not here: how the tables came to be (`migrations/`) and append-only triggers (`dialect.py`).
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    LargeBinary,
    MetaData,
    String,
    Table,
)

METADATA = MetaData(
    naming_convention={
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

RUN_ID_CHARACTERS = 80
KEY_CHARACTERS = 200
HEX_CHARACTERS = 64


RUNS = Table(
    "runs",
    METADATA,
    Column("run_id", String(RUN_ID_CHARACTERS), primary_key=True),
    Column("created_at", String(32), nullable=False),
    Column("profile", String(KEY_CHARACTERS), nullable=False),
    Column("variant", String(32), nullable=False),
    Column("researcher", String(KEY_CHARACTERS), nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("protocol_digest", String(HEX_CHARACTERS), nullable=False),
)

EVENTS = Table(
    "events",
    METADATA,
    Column("run_id", String(RUN_ID_CHARACTERS), ForeignKey(RUNS.c.run_id), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("at", String(32), nullable=False),
    Column("elapsed_ms", BigInteger, nullable=False),
    Column("kind", String(64), nullable=False),
    # Bytes, not text: a hash covers bytes, and a damaged byte must be readable to be reported.
    Column("body", LargeBinary, nullable=False),
    Column("previous_hash", String(HEX_CHARACTERS), nullable=False),
    Column("hash", String(HEX_CHARACTERS), nullable=False),
    CheckConstraint("seq > 0", name="seq_starts_at_one"),
    CheckConstraint("elapsed_ms >= 0", name="elapsed_not_negative"),
)

ACCOUNTS = Table(
    "accounts",
    METADATA,
    Column("run_id", String(RUN_ID_CHARACTERS), ForeignKey(RUNS.c.run_id), primary_key=True),
    Column("account", String(32), primary_key=True),
    Column("limit_units", BigInteger, nullable=False),
    Column("reserved_units", BigInteger, nullable=False),
    Column("spent_units", BigInteger, nullable=False),
    CheckConstraint("limit_units >= 0", name="limit_not_negative"),
    CheckConstraint("reserved_units >= 0", name="reserved_not_negative"),
    CheckConstraint("spent_units >= 0", name="spent_not_negative"),
    CheckConstraint("reserved_units + spent_units <= limit_units", name="within_limit"),
)

RESERVATIONS = Table(
    "reservations",
    METADATA,
    Column("run_id", String(RUN_ID_CHARACTERS), ForeignKey(RUNS.c.run_id), primary_key=True),
    Column("key", String(KEY_CHARACTERS), primary_key=True),
    Column("state", String(16), nullable=False),
    CheckConstraint("state in ('reserved', 'settled', 'released')", name="known_state"),
)

RESERVED_AMOUNTS = Table(
    "reserved_amounts",
    METADATA,
    Column("run_id", String(RUN_ID_CHARACTERS), primary_key=True),
    Column("key", String(KEY_CHARACTERS), primary_key=True),
    Column("account", String(32), primary_key=True),
    Column("reserved_units", BigInteger, nullable=False),
    Column("spent_units", BigInteger, nullable=False),
    CheckConstraint("spent_units >= 0", name="spent_not_negative"),
    CheckConstraint("spent_units <= reserved_units", name="spent_within_reserved"),
    ForeignKeyConstraint(
        ["run_id", "key"], ["reservations.run_id", "reservations.key"], name="fk_reserved_amounts_reservation"
    ),
    ForeignKeyConstraint(
        ["run_id", "account"], ["accounts.run_id", "accounts.account"], name="fk_reserved_amounts_account"
    ),
)

BASE_SCORES = Table(
    "base_scores",
    METADATA,
    Column("cache_key", String(KEY_CHARACTERS), primary_key=True),
    Column("split", String(32), primary_key=True),
    Column("trials_blob", String(HEX_CHARACTERS), nullable=False),
    Column("score", LargeBinary, nullable=False),
)

LEASES = Table(
    "leases",
    METADATA,
    Column("name", String(KEY_CHARACTERS), primary_key=True),
    # Empty when it was released. The token stays, so that it never repeats.
    Column("holder", String(KEY_CHARACTERS), nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("expires_at_us", BigInteger, nullable=False),
    CheckConstraint("token > 0", name="token_starts_at_one"),
)
