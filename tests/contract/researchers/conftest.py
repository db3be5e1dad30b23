"""Whole runs on the tiny student."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.testing.runs import TinyRuns


@pytest.fixture
def runs(tmp_path: Path) -> TinyRuns:
    return TinyRuns(tmp_path)
