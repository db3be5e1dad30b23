"""`kill -9` of the controller: what was scored stays, what was not is done again, and nothing is charged twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rsibench.journal.state import Phase
from rsibench.run.archive import open_archived, open_store
from rsibench.run.execute import execute
from rsibench.run.plan import Planned
from rsibench.run.result import RunResult
from rsibench.run.verify import verify
from rsibench.testing.runs import TinyRuns

pytestmark = pytest.mark.chaos

RUN = "run-killed"
_PROGRAM = """
import os, signal, sys
from pathlib import Path
from rsibench.run.execute import execute
from rsibench.testing.runs import TinyRuns

training_and_step = (int(sys.argv[2]), int(sys.argv[3]))

def die(training: int, step: int) -> None:
    if (training, step) == training_and_step:
        os.kill(os.getpid(), signal.SIGKILL)

runs = TinyRuns(Path(sys.argv[1]))
with runs.open(runs.plan("feedback", run_id="run-killed"), before_step=die) as context:
    execute(context)
"""


def killed_at(folder: Path, training: int, step: int) -> None:
    """A controller in a process of its own that kills itself before a step of a training."""
    argv = [sys.executable, "-c", _PROGRAM, str(folder), str(training), str(step)]
    done = subprocess.run(argv, env=dict(os.environ), capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def finished(runs: TinyRuns, planned: Planned) -> tuple[RunResult, int]:
    """The result of a run taken up to its end, and how many trainings that took."""
    with runs.open(planned) as context:
        result = execute(context)
        assert context.journal.state().phase is Phase.SEALED
        return result, getattr(context.engine, "trainings", -1)


def test_a_killed_run_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    calm = TinyRuns(tmp_path / "undisturbed")
    undisturbed, trainings = finished(calm, calm.plan("feedback", run_id=RUN))
    assert trainings == len(undisturbed.attempts)
    for training, step in ((1, 1), (2, 3)):
        folder = tmp_path / f"killed-{training}-{step}"
        killed_at(folder, training, step)
        runs = TinyRuns(folder)
        result, again = finished(runs, runs.again(RUN))
        assert result == undisturbed
        assert again == len(undisturbed.attempts) - (training - 1)
        with open_archived(runs.home, RUN) as archived, open_store(runs.home) as store:
            assert verify(archived, store).ok
