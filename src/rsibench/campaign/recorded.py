"""What the store says of a campaign's cells: how far each run is, what it spent and scored. Only reads runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from statistics import median
from typing import Protocol

from rsibench.campaign.cell import Cell
from rsibench.journal.journal import Journal
from rsibench.journal.state import Phase, RunState
from rsibench.ports.clock import Clock
from rsibench.run.home import Home
from rsibench.run.result import RunResult
from rsibench.store.blobs import Blobs
from rsibench.store.runs import RunRow, list_runs
from rsibench.store.store import Store
from rsibench.units import MICRO_USD_PER_USD, MILLISECONDS_PER_SECOND, Account

MONEY = (Account.TRAINING, Account.SAMPLING, Account.RESEARCHER, Account.ROLLOUT)
_SECONDS_PER_HOUR = 3600


class CellStage(StrEnum):
    """How far a cell is."""

    NOT_STARTED = "not started"
    """No run of this name is recorded."""
    OPEN = "open"
    """Begun and not sealed; whether somebody works on it is the controller's knowledge."""
    SEALED = "sealed"
    """Finished."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One cell as its journal tells it. `held_usd` is what it spent and still holds in reservations."""

    stage: CellStage
    phase: str = ""
    attempts: int = 0
    hours: float = 0.0
    spent_usd: Decimal = Decimal(0)
    held_usd: Decimal = Decimal(0)
    result: RunResult | None = None


NOTHING = Recorded(CellStage.NOT_STARTED)


class Records(Protocol):
    """Where the state of cells is read."""

    def of(self, run_ids: Iterable[str]) -> dict[str, Recorded]: ...


class RecordedRuns:
    """Reads runs of one store."""

    def __init__(self, clock: Clock, store: Store | None = None, blobs: Blobs | None = None) -> None:
        self._store = store
        self._blobs = blobs
        self._clock = clock

    def of(self, run_ids: Iterable[str]) -> dict[str, Recorded]:
        """Every asked run, NOTHING for one that was never begun. Sealed runs are read whole."""
        rows = {row.run_id for row in self._rows()}
        return {run_id: self._read(run_id) if run_id in rows else NOTHING for run_id in run_ids}

    def like(self, cell: Cell, protocol_digest: str) -> list[Recorded]:
        """Sealed runs of the same researcher under the same protocol, also those of other campaigns."""
        rows = [
            row for row in self._rows() if row.researcher == cell.researcher and row.protocol_digest == protocol_digest
        ]
        found = (self._read(row.run_id) for row in rows)
        return [one for one in found if one.stage is CellStage.SEALED]

    def _rows(self) -> list[RunRow]:
        if self._store is None:
            return []
        with self._store.reading() as connection:
            return [summary.run for summary in list_runs(connection)]

    def _read(self, run_id: str) -> Recorded:
        assert self._store is not None and self._blobs is not None  # noqa: S101, PT018 - a run was listed in it
        state = Journal(self._store, run_id, self._clock).state()
        return _recorded(state, self._blobs)


@contextmanager
def open_recorded(home: Home, clock: Clock, *, make: bool = False) -> Iterator[RecordedRuns]:
    """The runs of a home. One in which nothing was ever run has none; its store is made only when `make` says so."""
    if not make and not home.has_store:
        yield RecordedRuns(clock)
        return
    store = Store.open(home.store_url)
    try:
        yield RecordedRuns(clock, store, Blobs(home.blobs))
    finally:
        store.close()


def typical(runs: Iterable[Recorded]) -> tuple[Decimal, float] | None:
    """Median dollars and hours of sealed runs; None without one."""
    known = list(runs)
    if not known:
        return None
    return median(one.spent_usd for one in known), median(one.hours for one in known)


def _recorded(state: RunState, blobs: Blobs) -> Recorded:
    sealed = state.phase is Phase.SEALED
    result = None
    if sealed and state.result_blob is not None:
        result = RunResult.model_validate_json(blobs.get(state.result_blob))
    money = [state.balances[account] for account in MONEY if account in state.balances]
    return Recorded(
        stage=CellStage.SEALED if sealed else CellStage.OPEN,
        phase=state.phase.value,
        attempts=len(state.attempts),
        hours=state.elapsed_ms / MILLISECONDS_PER_SECOND / _SECONDS_PER_HOUR,
        spent_usd=_usd(sum(balance.spent for balance in money)),
        held_usd=_usd(sum(balance.spent + balance.reserved for balance in money)),
        result=result,
    )


def _usd(micro_usd: int) -> Decimal:
    return Decimal(micro_usd) / MICRO_USD_PER_USD
