"""The tiny student for tests of training."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.testing.student import tiny_student


@pytest.fixture(scope="session")
def student(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_student(tmp_path_factory.mktemp("student"))
