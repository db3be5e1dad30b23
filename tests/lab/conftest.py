"""A bench for every test of the lab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rsibench.testing.lab import LabBench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[LabBench]:
    """A prepared run whose research is open."""
    with LabBench(tmp_path) as bench:
        yield bench
