"""The base student's score: kept once a key and split; the first one stands."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from rsibench.errors import IntegrityError
from rsibench.spec.item import Split
from rsibench.store.base_scores import BaseScore, find_base_score, keep_base_score
from rsibench.store.schema import BASE_SCORES
from rsibench.store.store import Store
from rsibench.testing.run_builder import make_score

FIRST = BaseScore("1" * 64, make_score(3, 8))
SECOND = BaseScore("2" * 64, make_score(4, 8))


def test_the_first_score_under_a_key_stands(store: Store) -> None:
    with store.transaction() as connection:
        assert find_base_score(connection, "key", Split.SELECTION) is None
        assert keep_base_score(connection, "key", Split.SELECTION, FIRST) == FIRST
        assert keep_base_score(connection, "key", Split.SELECTION, SECOND) == FIRST
        assert keep_base_score(connection, "key", Split.OFFICIAL, SECOND) == SECOND
        assert keep_base_score(connection, "other", Split.SELECTION, SECOND) == SECOND
    with store.reading() as connection:
        assert find_base_score(connection, "key", Split.SELECTION) == FIRST


def test_a_damaged_score_is_an_error_and_not_a_score(store: Store) -> None:
    with store.transaction() as connection:
        keep_base_score(connection, "key", Split.SELECTION, FIRST)
        connection.execute(update(BASE_SCORES).values(score=b'{"rate":2'))
    with store.reading() as connection, pytest.raises(IntegrityError, match="base score key on selection"):
        find_base_score(connection, "key", Split.SELECTION)
