"""Launchers for tests of campaigns: one that plays cells in memory, one that executes them whole with a FakeEngine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from rsibench.campaign.cell import Cell
from rsibench.campaign.controller import WorstCase
from rsibench.campaign.recorded import NOTHING, CellStage, Recorded
from rsibench.errors import RsibenchError
from rsibench.run.execute import execute
from rsibench.testing.runs import TinyRuns


class Part(NamedTuple):
    """What a played cell does: how many looks it takes, what it spends of its worst case, and how it ends."""

    looks: int
    spends: Decimal
    code: int = 0


class PlayedCells:
    """Launcher and Records at once: cells move on whenever the controller looks at them, and spend as they do."""

    def __init__(self, parts: Mapping[str, Part], worst: Mapping[str, WorstCase]) -> None:
        self.parts = dict(parts)
        self._worst = worst
        self.records: dict[str, Recorded] = {}
        self.starts: list[tuple[str, bool]] = []
        """Run id, and whether it was a resume, of every start."""
        self.most_at_once = 0
        self.most_usd = Decimal(0)
        """The most that was spent or could still be spent by open cells, at any start."""
        self._open: set[str] = set()

    def of(self, run_ids: Iterable[str]) -> dict[str, Recorded]:
        return {run_id: self.records.get(run_id, NOTHING) for run_id in run_ids}

    def start(self, cell: Cell, *, resume: bool) -> PlayedCell:
        self.starts.append((cell.run_id, resume))
        self._open.add(cell.run_id)
        self.records[cell.run_id] = Recorded(CellStage.OPEN)
        self.most_at_once = max(self.most_at_once, len(self._open))
        self.most_usd = max(self.most_usd, self._could_be_spent())
        return PlayedCell(self, cell.run_id, self.parts[cell.run_id])

    def end(self, run_id: str, part: Part) -> None:
        """The cell's process is over."""
        self._open.discard(run_id)
        stage = CellStage.SEALED if part.code == 0 else CellStage.OPEN
        self.records[run_id] = replace(self.records[run_id], stage=stage, spent_usd=part.spends, hours=1.0)

    def _could_be_spent(self) -> Decimal:
        return sum(
            (
                one.spent_usd if one.stage is CellStage.SEALED else self._worst[run_id].usd
                for run_id, one in self.records.items()
            ),
            Decimal(0),
        )


class PlayedCell:
    """One played cell."""

    def __init__(self, cells: PlayedCells, run_id: str, part: Part) -> None:
        self._cells = cells
        self._run_id = run_id
        self._part = part
        self._looks = part.looks

    def exit_code(self) -> int | None:
        self._looks -= 1
        if self._looks > 0:
            return None
        self._cells.end(self._run_id, self._part)
        return self._part.code

    def stop(self) -> None:
        self._looks = 0
        self._part = self._part._replace(code=130)

    def last_words(self) -> str:
        return "it was played so"


class TinyCells:
    """A launcher that executes each cell of the tiny profile at once, for real but with a FakeEngine.

    A researcher that does not exist fails its cell the way a process would.
    """

    def __init__(self, runs: TinyRuns) -> None:
        self._runs = runs

    def start(self, cell: Cell, *, resume: bool) -> EndedCell:
        try:
            planned = (
                self._runs.again(cell.run_id)
                if resume
                else self._runs.plan(cell.researcher, run_id=cell.run_id, seed=cell.seed)
            )
            with self._runs.open(planned) as context:
                execute(context)
        except RsibenchError as error:
            return EndedCell(error.exit_code, str(error))
        return EndedCell(0, "")


class EndedCell:
    """A cell that is over already."""

    def __init__(self, code: int, said: str) -> None:
        self._code = code
        self._said = said

    def exit_code(self) -> int | None:
        return self._code

    def stop(self) -> None:
        return

    def last_words(self) -> str:
        return self._said
