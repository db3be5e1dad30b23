"""Kills the own process before its n-th commit, so that a run can be cut off at every boundary of its journal.

Whatever the transaction held is lost, whatever was done outside the database before it (an adapter on disk, a blob) is
there: the hardest place to come back from.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from sqlalchemy import Connection, Engine, event

from rsibench.run.archive import all_runs, open_archived, open_store
from rsibench.run.execute import execute
from rsibench.run.result import RunResult
from rsibench.run.verify import verify
from rsibench.testing.runs import TinyRuns

_RUN = "run-cut"


@dataclass(frozen=True, slots=True)
class CutRun:
    """What became of a run that was killed before its n-th commit and then continued."""

    commit: int
    killed: bool
    """False when the run made fewer commits and ended by itself."""
    result: RunResult
    trainings: int
    """Trainings of both processes together."""
    problems: tuple[str, ...]
    """What `verify` found."""


def die_before_commit(number: int) -> None:
    """From now on the process kills itself before its `number`-th commit of a writing transaction."""
    commits = count(1)

    def before(connection: Connection) -> None:
        reads = connection.get_execution_options().get("rsibench_read_only", False)
        if not reads and next(commits) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "commit", before)


def cut_and_continue(root: Path, researcher: str, commit: int, *, attempts: int = 2) -> CutRun:
    """Runs a tiny run in a child that dies before its `commit`-th commit, then continues it in another child.

    Must be called in a process without threads, because it forks.
    """
    runs, tally = TinyRuns(root), root / "trainings"
    runs.plan(researcher, run_id=_RUN, attempts=attempts)  # makes profile and student once, outside the killed process
    tally.touch()

    def trained(_training: int, step: int) -> None:
        if step == 1:
            with tally.open("a") as file:
                file.write("x")

    def first() -> None:
        die_before_commit(commit)
        with runs.open(runs.plan(researcher, run_id=_RUN, attempts=attempts), before_step=trained) as context:
            execute(context)

    def second() -> None:
        # A run that was killed before its plan was recorded was never begun: it starts again under its name.
        known = runs.home.has_store and _RUN in _recorded(runs)
        planned = runs.again(_RUN) if known else runs.plan(researcher, run_id=_RUN, attempts=attempts)
        with runs.open(planned, before_step=trained) as context:
            result = execute(context)
        (root / "result").write_bytes(result.canonical())
        (root / "problems").write_text("\n".join(_problems(runs)))

    killed = _in_child(first) == -signal.SIGKILL
    code = _in_child(second)
    if code != 0:
        raise RuntimeError(f"the run cut before commit {commit} could not be continued: exit {code}")
    problems = (root / "problems").read_text()
    return CutRun(
        commit=commit,
        killed=killed,
        result=RunResult.model_validate_json((root / "result").read_bytes()),
        trainings=len(tally.read_text()),
        problems=tuple(problems.splitlines()),
    )


def _recorded(runs: TinyRuns) -> set[str]:
    names = set()
    for one in all_runs(runs.home):
        with open_archived(runs.home, one.run.run_id) as archived:
            if archived.entries():
                names.add(one.run.run_id)
    return names


def _problems(runs: TinyRuns) -> list[str]:
    with open_archived(runs.home, _RUN) as archived, open_store(runs.home) as store:
        return [check.problem for check in verify(archived, store).checks if not check.ok]


def _in_child(work: Callable[[], None]) -> int:
    """Runs `work` in a forked child; its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
