"""The real student for tests that are marked `student`; where it cannot be had, they are skipped with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault
from rsibench.spec.catalogue import load_student
from rsibench.spec.settings import cache_folder
from rsibench.student import ensure_student


@pytest.fixture(scope="session")
def student_folder() -> Path:
    """The pocket profile's student, prepared in the user's cache and verified."""
    try:
        return ensure_student(load_student("smollm2-135m-instruct"), cache_folder()).folder
    except EnvironmentFault as fault:
        pytest.skip(str(fault))
