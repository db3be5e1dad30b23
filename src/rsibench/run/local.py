"""The engine of a local run: one worker process on this machine's processor or GPU."""

from __future__ import annotations

from rsibench.run.facts import usable_cores
from rsibench.run.home import RunFolder
from rsibench.run.plan import Planned
from rsibench.run.worker.engine import WorkerEngine, WorkerSettings


def local_engine(planned: Planned, folder: RunFolder) -> WorkerEngine:
    """A worker that is started with the first job. Its messages go to the run's logs."""
    folder.logs.mkdir(parents=True, exist_ok=True)
    settings = WorkerSettings(batch_rows=planned.lock.protocol.decoding.batch_rows, threads=usable_cores())
    return WorkerEngine(planned.student.folder, folder.logs / "worker.log", settings)
