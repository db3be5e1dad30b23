"""The real student and a private Postgres; where one cannot be had, its tests are skipped with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault
from rsibench.spec.catalogue import load_student
from rsibench.spec.settings import cache_folder
from rsibench.store.store import Store
from rsibench.student import ensure_student
from rsibench.testing.postgres import PostgresServer, postgres_server


@pytest.fixture(scope="session")
def student_folder() -> Path:
    """The pocket profile's student, prepared in the user's cache and verified."""
    try:
        return ensure_student(load_student("smollm2-135m-instruct"), cache_folder()).folder
    except EnvironmentFault as fault:
        pytest.skip(str(fault))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A private Postgres server, shared by the tests of this session; skipped where none can be started."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(postgres_server())
        except EnvironmentFault as fault:
            pytest.skip(str(fault))
        yield server


@pytest.fixture(scope="session")
def migrated_database(postgres: PostgresServer) -> str:
    """A database with every table and no row, as a template for others."""
    name = postgres.new_database()
    Store.open(postgres.url(name)).close()
    return name


@pytest.fixture
def postgres_url(postgres: PostgresServer, migrated_database: str) -> str:
    """The URL of a fresh database with every table and no row."""
    return postgres.url(postgres.new_database(migrated_database))
