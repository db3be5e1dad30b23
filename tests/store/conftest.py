"""Stores in places of their own, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rsibench.store.dialect import sqlite_url
from rsibench.store.store import Store


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[Store]:
    """An open, empty store in a file."""
    with closing(Store.open(sqlite_url(tmp_path / "rsibench.sqlite"))) as opened:
        yield opened


@pytest.fixture
def postgres_store(postgres_url: str) -> Iterator[Store]:
    """An open, empty store on Postgres."""
    with closing(Store.open(postgres_url)) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Store:
    """An open, empty store, once on each database."""
    opened: Store = request.getfixturevalue(f"{request.param}_store")
    return opened
