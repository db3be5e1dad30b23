"""`verify` finds what was changed after a run, and says where."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from rsibench.run.archive import open_archived, open_store
from rsibench.run.context import RunContext
from rsibench.run.execute import execute
from rsibench.run.verify import Verification, verify
from rsibench.testing.runs import TinyRuns

RUN = "run-verified"


@pytest.fixture
def sealed(runs: TinyRuns) -> RunContext:
    with runs.open(runs.plan("one-shot", run_id=RUN)) as context:
        execute(context)
    return context


def check(runs: TinyRuns) -> Verification:
    with open_archived(runs.home, RUN) as archived, open_store(runs.home) as store:
        return verify(archived, store)


def broken(runs: TinyRuns) -> dict[str, str]:
    return {one.name: one.problem for one in check(runs).checks if not one.ok}


def overwrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    data = change(path.read_bytes())
    path.chmod(0o644)
    path.write_bytes(data)


def flip_last(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def edit(runs: TinyRuns, statement: str, *values: object) -> None:
    """Changes the database behind the program's back, without its triggers."""
    connection = sqlite3.connect(runs.home.database)
    triggers = connection.execute("select name from sqlite_master where type = 'trigger'").fetchall()
    for (name,) in triggers:
        connection.execute(f"drop trigger {name}")
    changed = connection.execute(statement, values).rowcount
    connection.commit()
    connection.close()
    assert changed >= 1


@pytest.mark.usefixtures("sealed")
def test_an_untouched_run_agrees_everywhere(runs: TinyRuns) -> None:
    found = check(runs)
    assert found.ok
    assert {one.name for one in found.checks} >= {"hash chain", "budget", "adapters", "verdicts and scores", "result"}


@pytest.mark.usefixtures("sealed")
def test_one_flipped_byte_in_any_event_is_found_and_located(runs: TinyRuns) -> None:
    connection = sqlite3.connect(runs.home.database)
    rows = connection.execute("select seq, body from events where run_id = ? order by seq", (RUN,)).fetchall()
    connection.close()
    assert len(rows) > 10
    for seq, body in rows:
        edit(runs, "update events set body = ? where run_id = ? and seq = ?", flip_last(body), RUN, seq)
        problems = broken(runs)
        assert list(problems) == ["hash chain"]
        assert f"event {seq} " in problems["hash chain"]
        edit(runs, "update events set body = ? where run_id = ? and seq = ?", body, RUN, seq)
    assert check(runs).ok


def test_a_swapped_working_adapter_is_found(runs: TinyRuns, sealed: RunContext) -> None:
    weights = sealed.folder.adapter(1) / "adapter_model.safetensors"
    overwrite(weights, flip_last)
    problems = broken(runs)
    assert list(problems) == ["adapters"]
    assert str(weights) in problems["adapters"]


def test_a_changed_blob_is_found_whatever_it_holds(runs: TinyRuns, sealed: RunContext) -> None:
    state = sealed.journal.state()
    attempt, submission = state.attempts[1], state.submissions[1]
    assert state.official is not None
    blobs = {
        attempt.adapter_sha256: "adapters",
        attempt.trials_blob: "verdicts and scores",
        attempt.feedback_blob: "feedback",
        submission.rows_blob: "submissions",
        state.official.trials_blob: "verdicts and scores",
        state.result_blob: "result",
    }
    for blob, name in blobs.items():
        path = sealed.blobs.path(blob or "")
        before = path.read_bytes()
        overwrite(path, flip_last)
        assert name in broken(runs), f"a changed {name} blob went unseen"
        overwrite(path, lambda _, before=before: before)  # type: ignore[misc] # mypy cannot infer a default's type
    assert check(runs).ok


def test_a_changed_balance_is_found(runs: TinyRuns, sealed: RunContext) -> None:
    edit(runs, "update accounts set spent_units = spent_units - 1 where run_id = ? and account = 'training_usd'", RUN)
    assert list(broken(runs)) == ["budget"]
    assert sealed.run_id == RUN


def test_a_rewritten_result_or_lock_file_is_found(runs: TinyRuns, sealed: RunContext) -> None:
    text = sealed.folder.result.read_text(encoding="utf-8")
    sealed.folder.result.write_text(
        text.replace('"researcher": "one-shot"', '"researcher": "claude"'), encoding="utf-8"
    )
    overwrite(sealed.folder.lock, lambda data: data.replace(b"one-shot", b"claude"))
    assert set(broken(runs)) == {"result", "lock"} or list(broken(runs)) == ["lock"]
