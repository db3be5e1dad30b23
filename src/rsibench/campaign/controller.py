"""The controller of a campaign: starts cells within the shared limits, and goes on when one of them fails.

A cell's failure is its own. A shared limit is kept by worst cases: an open cell counts with its whole budget until it
is sealed, then with what it spent, so that all cells together can never exceed it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from rsibench.campaign.cell import Cell
from rsibench.campaign.launcher import Launcher, Started
from rsibench.campaign.recorded import NOTHING, CellStage, Recorded, Records
from rsibench.errors import LabError
from rsibench.ports.clock import Clock
from rsibench.spec.campaign import SharedLimits

_TICK_SECONDS = 0.5
_AGAIN_SECONDS = 10.0
_INTERRUPTED = 130
_IN_USE = LabError.exit_code


class Doing(StrEnum):
    """What the controller knows of a cell beyond its journal."""

    WAITING = "waiting"
    """Not started in this session, or waiting for its turn."""
    RUNNING = "running"
    """A process of this controller has it."""
    ELSEWHERE = "elsewhere"
    """Another process works on it, perhaps one that outlived an earlier controller; it is looked at again."""
    DONE = "done"
    """Its run is sealed."""
    FAILED = "failed"
    """It ended with an error; `campaign resume` tries it again."""
    NO_ROOM = "no room"
    """Its worst case does not fit in what is left of the shared limits."""
    IMPOSSIBLE = "impossible here"
    """Something it needs is missing; the plan says what."""


class WorstCase(NamedTuple):
    """The most that a cell can use."""

    usd: Decimal
    hours: float


@dataclass(slots=True)
class Progress:
    """One cell as the controller sees it."""

    cell: Cell
    worst: WorstCase | None
    doing: Doing = Doing.WAITING
    said: str = ""
    again_at: float = 0.0
    """When a cell that another process has is tried again, on the monotonic clock."""
    started: Started | None = field(default=None, repr=False)


class Controller:
    """Drives cells to their seals. `worst` is of the cells that can run here, `obstacles` says why others cannot."""

    def __init__(
        self,
        cells: tuple[Cell, ...],
        worst: Mapping[str, WorstCase],
        obstacles: Mapping[str, str],
        limits: SharedLimits,
        launcher: Launcher,
        recorded: Records,
        clock: Clock,
        *,
        parallel: int,
    ) -> None:
        self.progress = {cell.run_id: Progress(cell, worst.get(cell.run_id)) for cell in cells}
        for run_id, why in obstacles.items():
            self.progress[run_id].doing, self.progress[run_id].said = Doing.IMPOSSIBLE, why
        self._limits = limits
        self._launcher = launcher
        self._recorded = recorded
        self._clock = clock
        self._parallel = parallel

    def drive(self, cancelled: Callable[[], bool], show: Callable[[Controller], None]) -> bool:
        """Until no cell runs and none can be started. True when every cell is sealed.

        When cancelled, or interrupted by an exception, running cells are stopped in an orderly way.
        """
        try:
            while not cancelled():
                self._collect()
                self._start()
                show(self)
                if not any(one.doing in (Doing.RUNNING, Doing.ELSEWHERE) for one in self.progress.values()):
                    break
                self._clock.sleep(_TICK_SECONDS)
        finally:
            self._stop()
            self._collect()
            show(self)
        return all(one.doing is Doing.DONE for one in self.progress.values())

    def stands(self) -> dict[str, Recorded]:
        """Every cell's record."""
        return self._recorded.of(self.progress)

    def _running(self) -> list[Progress]:
        return [one for one in self.progress.values() if one.doing is Doing.RUNNING]

    def _collect(self) -> None:
        """Notes which running cells have ended, and how."""
        for one in self._running():
            code = one.started.exit_code() if one.started is not None else None
            if code is None:
                continue
            if code == 0:
                one.doing, one.said = Doing.DONE, ""
            elif code == _IN_USE:
                one.doing, one.again_at = Doing.ELSEWHERE, self._clock.monotonic() + _AGAIN_SECONDS
            elif code == _INTERRUPTED:
                one.doing, one.said = Doing.WAITING, "interrupted"
            else:
                words = one.started.last_words() if one.started is not None else ""
                one.doing, one.said = Doing.FAILED, f"exit {code}: {words}"

    def _start(self) -> None:
        """Starts cells in order while there is a free place and room in the shared limits."""
        if len(self._running()) >= self._parallel:
            return
        stands = self.stands()
        for run_id, one in self.progress.items():
            if stands[run_id].stage is CellStage.SEALED and one.doing is not Doing.RUNNING:
                one.doing, one.said = Doing.DONE, ""
        for run_id, one in self.progress.items():
            if len(self._running()) >= self._parallel:
                return
            if not self._may_start(one):
                continue
            if not self._fits(one, stands):
                one.doing, one.said = Doing.NO_ROOM, "its worst case exceeds what is left of the shared limits"
                continue
            one.started = self._launcher.start(one.cell, resume=stands[run_id].stage is CellStage.OPEN)
            one.doing, one.said = Doing.RUNNING, ""

    def _may_start(self, one: Progress) -> bool:
        if one.doing is Doing.ELSEWHERE:
            return self._clock.monotonic() >= one.again_at
        return one.doing in (Doing.WAITING, Doing.NO_ROOM) and not one.said.startswith("interrupted")

    def _fits(self, candidate: Progress, stands: Mapping[str, Recorded]) -> bool:
        """Whether the candidate's worst case fits beside what others spent or can still spend."""
        usd, hours = Decimal(0), 0.0
        for run_id, one in self.progress.items():
            stand = stands.get(run_id, NOTHING)
            if one is candidate or one.worst is None:
                continue
            if stand.stage is CellStage.SEALED:
                usd, hours = usd + stand.spent_usd, hours + min(stand.hours, one.worst.hours)
            elif one.doing in (Doing.RUNNING, Doing.ELSEWHERE) or stand.stage is CellStage.OPEN:
                usd, hours = usd + one.worst.usd, hours + one.worst.hours
        worst = candidate.worst
        if worst is None:
            return False
        fits_usd = self._limits.usd is None or usd + worst.usd <= self._limits.usd
        return fits_usd and (self._limits.hours is None or hours + worst.hours <= self._limits.hours)

    def _stop(self) -> None:
        for one in self._running():
            if one.started is not None:
                one.started.stop()
