"""Two runs of one lock and seed compare equal; a run that went another way does not."""

from __future__ import annotations

import json
from pathlib import Path

from rsibench.journal.comparable import comparable
from rsibench.testing.run_builder import RunBuilder


def _lines(folder: Path, run_id: str, step_seconds: float, passed: int = 70) -> tuple[str, ...]:
    with RunBuilder(folder, run_id=run_id, step_seconds=step_seconds) as run:
        run.prepare()
        run.start_research()
        attempt = run.admit(run.submit("rows"))
        run.train(attempt)
        run.score(attempt, 20)
        run.commit(attempt)
        run.finish(passed=passed)
        return comparable(run.journal.entries())


def test_times_machines_and_locks_do_not_count(tmp_path: Path) -> None:
    first = _lines(tmp_path / "a", "pocket-first", 1.0)
    assert first == _lines(tmp_path / "b", "pocket-second", 7.25)
    assert first != _lines(tmp_path / "c", "pocket-first", 1.0, passed=71)


def test_nothing_that_differs_between_runs_is_left(tmp_path: Path) -> None:
    for line in _lines(tmp_path, "pocket-first", 1.0):
        event = json.loads(line)
        assert not {"measured", "wall_units", "lock_blob"} & set(event)
        assert "kind" in event
