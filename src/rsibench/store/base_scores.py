"""The base student's scores, kept once a cache key and split, so that runs of one protocol share them.

The caller makes the key from everything that can change a score (protocol digest, machine kind). The first score that
was stored under a key stands.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, select

from rsibench.errors import IntegrityError
from rsibench.spec.item import Split
from rsibench.spec.score import Score
from rsibench.store.dialect import insert_absent
from rsibench.store.schema import BASE_SCORES


class BaseScore(NamedTuple):
    """A cached score and the blob of the trials that it was computed from."""

    trials_blob: str
    score: Score


def find_base_score(connection: Connection, cache_key: str, split: Split) -> BaseScore | None:
    """The score stored under `cache_key` for `split`, or None. Raises IntegrityError when it cannot be read."""
    table = BASE_SCORES
    query = select(table.c.trials_blob, table.c.score)
    row = connection.execute(query.where(table.c.cache_key == cache_key, table.c.split == split.value)).one_or_none()
    if row is None:
        return None
    try:
        return BaseScore(row.trials_blob, Score.model_validate_json(row.score))
    except ValueError as error:
        where = f"base score {cache_key} on {split}"
        raise IntegrityError("the cached score cannot be read", where=where, fix="the file was changed") from error


def keep_base_score(connection: Connection, cache_key: str, split: Split, found: BaseScore) -> BaseScore:
    """Stores a score unless one stands already; returns the one that stands."""
    standing = find_base_score(connection, cache_key, split)
    if standing is not None:
        return standing
    values = {"trials_blob": found.trials_blob, "score": found.score.canonical()}
    key = {"cache_key": cache_key, "split": split.value}
    if insert_absent(connection, BASE_SCORES, {**key, **values}):
        return found
    return find_base_score(connection, cache_key, split) or found
