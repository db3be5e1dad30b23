"""A served tiny student."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from rsibench.testing.student import tiny_student
from rsibench.tinker_api.connection import Service
from rsibench.tinker_serve.served import ServedModel
from rsibench.tinker_serve.server import TinkerServer
from rsibench.tinker_serve.service import Settings

KEY = "tml-test"


@pytest.fixture(scope="session")
def student(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_student(tmp_path_factory.mktemp("student"))


@pytest.fixture
def service(student: Path, tmp_path: Path) -> Iterator[Service]:
    model = ServedModel("tiny", student, alpha=8, targets=("q_proj", "v_proj", "down_proj"), top_layers=1)
    with TinkerServer((model,), Settings(tmp_path / "served", threads=1), KEY) as server:
        yield Service(server.url, KEY, "tiny", call_seconds=30.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the official client leaves idle connections to the collector
        gc.collect()
