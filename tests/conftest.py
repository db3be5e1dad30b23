"""What several folders of tests share: the real student and a PostgreSQL server, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault
from rsibench.spec.catalogue import load_student
from rsibench.spec.settings import cache_folder
from rsibench.student import ensure_student
from rsibench.testing.postgres import PostgresServer, server_programs


@pytest.fixture(scope="session")
def student_folder() -> Path:
    """The pocket profile's student, prepared in the user's cache and verified."""
    try:
        return ensure_student(load_student("smollm2-135m-instruct"), cache_folder()).folder
    except EnvironmentFault as fault:
        pytest.skip(str(fault))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A private server, started with the first test that needs it."""
    if server_programs() is None:
        pytest.skip("no PostgreSQL server is installed (Debian: apt-get install postgresql)")
    with PostgresServer() as server:
        yield server
