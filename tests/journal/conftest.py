"""A whole valid run, written once for all tests that only read it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rsibench.store.rows import EventRow
from rsibench.testing.run_builder import RunBuilder


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunBuilder]:
    """A sealed run."""
    with RunBuilder(tmp_path_factory.mktemp("whole")) as run:
        yield run.whole()


@pytest.fixture(scope="session")
def whole_rows(whole_run: RunBuilder) -> tuple[EventRow, ...]:
    """The sealed run's rows."""
    return tuple(whole_run.journal.rows())
