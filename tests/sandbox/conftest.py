"""A provider of sandboxes that isolates on this machine; its tests are skipped with the reason where none does."""

from __future__ import annotations

import pytest

from rsibench.errors import EnvironmentFault
from rsibench.ports.sandbox import SandboxProvider
from rsibench.sandbox.choose import choose_provider


@pytest.fixture(scope="session")
def sandbox_provider() -> SandboxProvider:
    """The one that a run would use."""
    try:
        return choose_provider()[0]
    except EnvironmentFault as fault:
        pytest.skip(str(fault))
