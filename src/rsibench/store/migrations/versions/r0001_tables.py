"""The first tables: runs, events, accounts, reservations and cached base scores."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from rsibench.store.dialect import append_only_triggers

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates every table, and the triggers that keep events append only."""
    _create_runs_and_events()
    _create_accounts()
    op.create_table(
        "base_scores",
        sa.Column("cache_key", sa.String(200), nullable=False),
        sa.Column("split", sa.String(32), nullable=False),
        sa.Column("trials_blob", sa.String(64), nullable=False),
        sa.Column("score", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("cache_key", "split", name="pk_base_scores"),
    )
    for statement in append_only_triggers(op.get_bind().dialect.name, "events", ("run_id", "seq")):
        op.execute(statement)


def _create_runs_and_events() -> None:
    op.create_table(
        "runs",
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("profile", sa.String(200), nullable=False),
        sa.Column("variant", sa.String(32), nullable=False),
        sa.Column("researcher", sa.String(200), nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("protocol_digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="pk_runs"),
    )
    op.create_table(
        "events",
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("seq", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("elapsed_ms", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("previous_hash", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "seq", name="pk_events"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], name="fk_events_run_id"),
        sa.CheckConstraint("seq > 0", name=op.f("ck_events_seq_starts_at_one")),
        sa.CheckConstraint("elapsed_ms >= 0", name=op.f("ck_events_elapsed_not_negative")),
    )


def _create_accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("limit_units", sa.BigInteger, nullable=False),
        sa.Column("reserved_units", sa.BigInteger, nullable=False),
        sa.Column("spent_units", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "account", name="pk_accounts"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], name="fk_accounts_run_id"),
        sa.CheckConstraint("limit_units >= 0", name=op.f("ck_accounts_limit_not_negative")),
        sa.CheckConstraint("reserved_units >= 0", name=op.f("ck_accounts_reserved_not_negative")),
        sa.CheckConstraint("spent_units >= 0", name=op.f("ck_accounts_spent_not_negative")),
        sa.CheckConstraint("reserved_units + spent_units <= limit_units", name=op.f("ck_accounts_within_limit")),
    )
    op.create_table(
        "reservations",
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "key", name="pk_reservations"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], name="fk_reservations_run_id"),
        sa.CheckConstraint("state in ('reserved', 'settled', 'released')", name=op.f("ck_reservations_known_state")),
    )
    op.create_table(
        "reserved_amounts",
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("reserved_units", sa.BigInteger, nullable=False),
        sa.Column("spent_units", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "key", "account", name="pk_reserved_amounts"),
        sa.ForeignKeyConstraint(
            ["run_id", "key"], ["reservations.run_id", "reservations.key"], name="fk_reserved_amounts_reservation"
        ),
        sa.ForeignKeyConstraint(
            ["run_id", "account"], ["accounts.run_id", "accounts.account"], name="fk_reserved_amounts_account"
        ),
        sa.CheckConstraint("spent_units >= 0", name=op.f("ck_reserved_amounts_spent_not_negative")),
        sa.CheckConstraint("spent_units <= reserved_units", name=op.f("ck_reserved_amounts_spent_within_reserved")),
    )
