"""The gate's policy on the tiny tokenizer."""

from __future__ import annotations

import pytest

from rsibench.gate.submission import GatePolicy
from rsibench.rendering import load_renderer
from rsibench.testing.lab import DATA, RECIPE
from rsibench.testing.tokenizer import tiny_tokenizer


@pytest.fixture(scope="session")
def policy(tmp_path_factory: pytest.TempPathFactory) -> GatePolicy:
    """A small recipe and small limits."""
    renderer = load_renderer("chatml", tiny_tokenizer(tmp_path_factory.mktemp("student")))
    return GatePolicy(recipe=RECIPE, data=DATA, renderer=renderer)
