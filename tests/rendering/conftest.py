"""The renderers that the tests run on: one on a tiny tokenizer, one on the real student's."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.rendering import Renderer, load_renderer
from rsibench.testing.tokenizer import tiny_tokenizer


@pytest.fixture(scope="session", params=["tiny", pytest.param("real", marks=pytest.mark.student)])
def renderer_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "tiny":
        return tiny_tokenizer(tmp_path_factory.mktemp("tiny"))
    folder: Path = request.getfixturevalue("student_folder")
    return folder


@pytest.fixture(scope="session")
def renderer(renderer_folder: Path) -> Renderer:
    return load_renderer("chatml", renderer_folder)
