"""A run whose budget was opened and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rsibench.testing.run_builder import RunBuilder


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunBuilder]:
    """A prepared run; see `LIMITS` for its accounts."""
    with RunBuilder(tmp_path) as built:
        built.prepare()
        yield built
