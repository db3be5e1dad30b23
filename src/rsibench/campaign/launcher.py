"""Launcher: how a cell's run is started; here in a process of its own, elsewhere perhaps by a worker."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Protocol

from rsibench.campaign.cell import Cell
from rsibench.spec.budget import BudgetChange


class Started(Protocol):
    """A cell that was started. Stopping is orderly: the run can be resumed."""

    def exit_code(self) -> int | None:
        """None while it works; 0 when its run is sealed, else the exit code that says why not."""
        ...

    def stop(self) -> None: ...

    def last_words(self) -> str:
        """What it said when it failed, one line."""
        ...


class Launcher(Protocol):
    """Starts cells. `resume` says that the cell's run was begun before."""

    def start(self, cell: Cell, *, resume: bool) -> Started: ...


class ProcessLauncher:
    """Every cell in a process of its own, so that none can take another one, or the campaign, down with it."""

    def __init__(self, logs: Path, options: tuple[str, ...] = ()) -> None:
        self._logs = logs
        self._options = options

    def start(self, cell: Cell, *, resume: bool) -> ProcessCell:
        """Starts `rsibench run` or `rsibench resume`; its output goes to the cell's log."""
        self._logs.mkdir(parents=True, exist_ok=True)
        log = self._logs / f"{cell.run_id}.log"
        words = ["resume", cell.run_id] if resume else [*run_words(cell), *self._options]
        return ProcessCell([sys.executable, "-m", "rsibench", *words, "--json"], log)


class ProcessCell:
    """One process that carries out a cell."""

    def __init__(self, argv: list[str], log: Path) -> None:
        self._log = log
        self._stream: IO[bytes] = log.open("ab")
        self._process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._stream, start_new_session=True
        )

    @property
    def pid(self) -> int:
        """The process, for tests and status."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it works."""
        code = self._process.poll()
        if code is not None:
            self._stream.close()
        return code

    def stop(self) -> None:
        """Asks the run to end in an orderly way and waits for it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        self._process.wait()
        self._stream.close()

    def last_words(self) -> str:
        """The last line of its log that says something about an error, else the last line."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        errors = [line for line in lines if line.startswith("rsibench: ")]
        return (errors or lines or ["it said nothing"])[-1].removeprefix("rsibench: ")


def run_words(cell: Cell) -> list[str]:
    """Arguments of `rsibench` that run a cell for the first time."""
    words = ["run", cell.profile.profile, "--researcher", cell.researcher, "--seed", str(cell.seed)]
    words += ["--run-id", cell.run_id]
    if cell.profile.quick:
        words.append("--quick")
    if cell.profile.model is not None:
        words += ["--model", cell.profile.model]
    for part in budget_words(cell.budget.change):
        words += ["--budget", part]
    return words


def budget_words(change: BudgetChange) -> list[str]:
    """A budget's changes the way `--budget` takes them."""
    return [f"{name}={value}" for name, value in change.model_dump(mode="json", exclude_none=True).items()]
