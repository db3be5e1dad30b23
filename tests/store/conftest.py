"""A store in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rsibench.store.dialect import sqlite_url
from rsibench.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open, empty store."""
    opened = Store.open(sqlite_url(tmp_path / "rsibench.sqlite"))
    yield opened
    opened.close()
