"""Where runs live: one folder with the store, the blobs, and a folder a run for workspace, logs, adapters and pages.

HOME/store.sqlite        events, ledger, base scores of all runs; a shared database can take its place
HOME/blobs/              content-addressed bytes: locks, submissions, trials, adapters, results
HOME/<run id>/           lock.json, workspace/, attempts/, logs/, report.html
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rsibench.errors import SpecError
from rsibench.ids import RUN_ID
from rsibench.store.dialect import sqlite_url


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one run."""

    root: Path

    @property
    def lock(self) -> Path:
        return self.root / "lock.json"

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def page(self) -> Path:
        return self.root / "report.html"

    @property
    def result(self) -> Path:
        return self.root / "result.json"

    def attempt(self, number: int) -> Path:
        """Working files of an attempt: its token rows and its adapter."""
        return self.root / "attempts" / f"{number:03d}"

    def adapter(self, number: int) -> Path:
        """The adapter of an attempt, in PEFT's layout."""
        return self.attempt(number) / "adapter"

    def kept_training(self, number: int) -> Path:
        """What a training that is killed goes on from; gone once its adapter is recorded."""
        return self.attempt(number) / "state"

    def partial(self, key: str) -> Path:
        """Finished trials of an evaluation that has not ended."""
        return self.root / "partial" / f"{key}.jsonl"


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds every run of a user or a machine."""

    root: Path
    shared_store: str | None = None
    """The URL of a database that several machines share, in place of the file here."""

    @property
    def store_url(self) -> str:
        return self.shared_store or sqlite_url(self.database)

    @property
    def has_store(self) -> bool:
        """Whether there is a store to read; a shared one is there, or opening it says why not."""
        return self.shared_store is not None or self.database.is_file()

    @property
    def database(self) -> Path:
        """The file of the store."""
        return self.root / "store.sqlite"

    @property
    def blobs(self) -> Path:
        return self.root / "blobs"

    def run(self, run_id: str) -> RunFolder:
        """The folder of a run. Raises SpecError for a name that could not be one."""
        if not RUN_ID.fullmatch(run_id):
            raise SpecError(
                f"{run_id!r} cannot be the name of a run", where="run", fix="use letters, digits, dots and dashes"
            )
        return RunFolder(self.root / run_id)
