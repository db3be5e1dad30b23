"""The tiny student as a wheel that lies where a person would put it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from rsibench.spec.student import StudentSpec
from rsibench.student import StudentProgress, StudentStage
from rsibench.testing.gguf import tiny_gguf, tiny_wheel


class Watched:
    """A reporter that keeps what it was told."""

    def __init__(self) -> None:
        self.seen: list[StudentProgress] = []

    def __call__(self, progress: StudentProgress) -> None:
        self.seen.append(progress)

    @property
    def stages(self) -> list[StudentStage]:
        """Each stage once, in order."""
        return list(dict.fromkeys(progress.stage for progress in self.seen))


class Placed(NamedTuple):
    """A cache with the tiny wheel in its downloads folder, its spec, and the folder that the GGUF was made from."""

    cache: Path
    spec: StudentSpec
    source: Path


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture
def placed(tmp_path: Path) -> Placed:
    gguf_file = tiny_gguf(tmp_path / "made")
    cache = tmp_path / "cache"
    return Placed(cache, tiny_wheel(cache / "downloads", gguf_file), tmp_path / "made" / "hf")
