"""A whole run whose store is a database that several machines share gives what a run on a file gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.errors import IntegrityError
from rsibench.run.archive import open_archived, open_store
from rsibench.run.execute import execute
from rsibench.run.verify import verify
from rsibench.testing.runs import TinyRuns


def test_the_result_is_the_same_and_verifies(tmp_path: Path, postgres_url: str) -> None:
    shared, alone = TinyRuns(tmp_path / "shared", postgres_url), TinyRuns(tmp_path / "alone")
    results = []
    for runs in (shared, alone):
        with runs.open(runs.plan("one-shot", run_id="whole")) as context:
            results.append(execute(context))
        with open_archived(runs.home, "whole") as archived, open_store(runs.home) as store:
            assert verify(archived, store).ok
    assert results[0] == results[1]
    assert not shared.home.database.exists()


def test_a_name_taken_by_another_run_is_refused(tmp_path: Path, postgres_url: str) -> None:
    one, two = TinyRuns(tmp_path / "one", postgres_url), TinyRuns(tmp_path / "two", postgres_url)
    with one.open(one.plan("no-op", run_id="same-name")):
        pass
    planned = two.plan("one-shot", run_id="same-name")
    with pytest.raises(IntegrityError, match="belongs to a different run"), two.open(planned):
        pass
