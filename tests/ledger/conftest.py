"""A run whose budget was opened and nothing else, and places for one on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rsibench.store.dialect import sqlite_url
from rsibench.testing.run_builder import RunBuilder


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunBuilder]:
    """A prepared run; see `LIMITS` for its accounts."""
    with RunBuilder(tmp_path) as built:
        built.prepare()
        yield built


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store's URL, once of each database."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "rsibench.sqlite")
    found: str = request.getfixturevalue("postgres_url")
    return found
