"""The lab's OpenAPI, driven by schemathesis against a real server: no request makes the lab fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from rsibench.lab.http.server import LabServer
from rsibench.testing.lab import LabBench

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

EXAMPLES = 15
INTERNAL_ERROR = 500


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A lab on a loopback port."""
    with LabBench(tmp_path_factory.mktemp("lab")) as bench, LabServer.on_loopback(bench.session) as server:
        yield server.address


def test_no_request_makes_the_lab_fail(address: str) -> None:
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    asked: set[str] = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path.endswith("/wait"):
            continue  # it may block as long as it is asked to

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            response = case.call(timeout=20)
            assert response.status_code < INTERNAL_ERROR or response.status_code == 501

        ask()
        asked.add(operation.path)
    assert len(asked) >= 4
