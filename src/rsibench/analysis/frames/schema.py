"""The columns of the four tables. A change of meaning raises VERSION; a new column at the end does not.

Shares are from 0 to 1, money is in dollars, times are in seconds. What is null has not happened or is withheld.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

VERSION = 1

type Schema = dict[str, pl.DataType | type[pl.DataType]]

RUNS: Schema = {
    "run_id": pl.String,
    "profile": pl.String,
    "profile_version": pl.String,
    "variant": pl.String,
    "protocol_digest": pl.String,
    "researcher": pl.String,
    "seed": pl.Int64,
    "isolation": pl.String,
    "planned_at": pl.Datetime("us", "UTC"),
    "phase": pl.String,
    "sealed": pl.Boolean,
    "labels": pl.List(pl.String),
    "attempts": pl.Int32,
    "scored_attempts": pl.Int32,
    "refused_submissions": pl.Int32,
    "replicated_submissions": pl.Int32,
    "incidents": pl.List(pl.String),
    "selected_attempt": pl.Int32,
    "closed_because": pl.String,
    "base_selection": pl.Float64,
    "selected_selection": pl.Float64,
    "base_official": pl.Float64,
    "official": pl.Float64,
    "official_coverage": pl.Float64,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "difference_p": pl.Float64,
    "official_items": pl.Int32,
    "usd": pl.Float64,
    "budget_usd": pl.Float64,
    "research_seconds": pl.Float64,
    "total_seconds": pl.Float64,
    "budget_seconds": pl.Float64,
    "shadow_prices": pl.Boolean,
}

ATTEMPTS: Schema = {
    "run_id": pl.String,
    "attempt": pl.Int32,
    "stage": pl.String,
    "selected": pl.Boolean,
    "rows": pl.Int64,
    "train_tokens": pl.Int64,
    "learning_rate": pl.Float64,
    "epochs": pl.Int32,
    "lora_rank": pl.Int32,
    "delta_norm": pl.Float64,
    "near_noop": pl.Boolean,
    "score": pl.Float64,
    "passed": pl.Int64,
    "counted": pl.Int64,
    "total": pl.Int64,
    "usd": pl.Float64,
    "usd_before": pl.Float64,
    "usd_known": pl.Float64,
    "tokens_known": pl.Int64,
    "seconds_known": pl.Float64,
}
"""`usd_known`, `tokens_known`, `seconds_known`: what the run had used when this attempt's score became known."""

TRIALS: Schema = {
    "run_id": pl.String,
    "split": pl.String,
    "attempt": pl.Int32,
    "item_id": pl.String,
    "family": pl.String,
    "template": pl.String,
    "decode": pl.Int32,
    "outcome": pl.String,
    "passed": pl.Boolean,
    "counts": pl.Boolean,
    "finish_reason": pl.String,
    "prompt_tokens": pl.Int64,
    "output_tokens": pl.Int64,
}
"""`attempt` 0 is the base student. Texts stay in the run's blobs."""

COSTS: Schema = {"run_id": pl.String, "account": pl.String, "limit": pl.Float64, "spent": pl.Float64}
"""In whole dollars, seconds and attempts."""

TABLES: dict[str, Schema] = {"runs": RUNS, "attempts": ATTEMPTS, "trials": TRIALS, "costs": COSTS}


class Frames(NamedTuple):
    """The four tables, of any number of runs."""

    runs: pl.DataFrame
    attempts: pl.DataFrame
    trials: pl.DataFrame
    costs: pl.DataFrame


def empty() -> Frames:
    """Tables without rows."""
    return Frames(**{name: pl.DataFrame(schema=schema) for name, schema in TABLES.items()})


def frame(table: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a table of the declared columns; a missing column is null, an undeclared one is an error."""
    schema = TABLES[table]
    unknown = set().union(*(row.keys() for row in rows)) - schema.keys() if rows else set()
    if unknown:
        raise ValueError(f"{table} has no columns {', '.join(sorted(unknown))}")
    return pl.DataFrame(rows, schema=schema, orient="row")
