"""Reads recorded runs back: the lock, the events, and everything pages and commands show. Changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rsibench.errors import SpecError
from rsibench.evaluation.generators import make_items
from rsibench.journal.envelope import Entry, Head
from rsibench.journal.events import RunPlanned
from rsibench.journal.fold import fold
from rsibench.journal.journal import Journal
from rsibench.journal.state import Phase, RunState
from rsibench.lab.refusal import Refusal
from rsibench.ports.clock import SystemClock
from rsibench.run.home import Home, RunFolder
from rsibench.run.plan import read_lock
from rsibench.run.record import RecordedEvent, RecordedSubmission, RunRecord
from rsibench.run.result import RunResult
from rsibench.run.trials import decode_trials
from rsibench.spec.item import Split, Trial
from rsibench.spec.lock import Lock
from rsibench.store.blobs import Blobs
from rsibench.store.runs import RunSummary, list_runs
from rsibench.store.store import Store
from rsibench.units import MILLISECONDS_PER_SECOND


@dataclass(frozen=True, slots=True)
class ArchivedRun:
    """One run of a home, opened for reading."""

    run_id: str
    folder: RunFolder
    journal: Journal
    blobs: Blobs

    def entries(self) -> list[Entry]:
        """Every event, in order."""
        return list(self.journal.entries())

    def lock(self) -> Lock:
        """The lock that was journaled when the run was planned. Raises IntegrityError when its blob was changed."""
        return read_lock(self.lock_bytes(), where=f"run {self.run_id}")

    def lock_bytes(self) -> bytes:
        """The journaled lock as it was written."""
        first = next(iter(self.journal.entries()), None)
        if first is None or not isinstance(first.event, RunPlanned):
            raise SpecError("the run was never planned", where=f"run {self.run_id}", fix="start it again")
        return self.blobs.get(first.event.lock_blob)


@contextmanager
def open_store(home: Home) -> Iterator[Store]:
    """The store of a home that exists. Raises SpecError when no run was ever started there."""
    if not home.has_store:
        raise SpecError("there are no runs here", where=str(home.root), fix="start one with `rsibench run`")
    store = Store.open(home.store_url)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def open_archived(home: Home, run_id: str) -> Iterator[ArchivedRun]:
    """A recorded run. Raises SpecError, with the nearest known name, when there is none of that name."""
    folder = home.run(run_id)
    with open_store(home) as store:
        yield ArchivedRun(run_id, folder, Journal(store, run_id, SystemClock()), Blobs(home.blobs))


def all_runs(home: Home) -> list[RunSummary]:
    """Every run of a home, oldest first."""
    with open_store(home) as store, store.reading() as connection:
        return list_runs(connection)


def read_record(run: ArchivedRun) -> RunRecord:
    """Everything a page shows of a sealed run. Raises SpecError when it is not sealed, IntegrityError when damaged."""
    entries = run.entries()
    state = fold(entries, run.run_id)
    if state.phase is not Phase.SEALED or state.result_blob is None or state.official is None:
        raise SpecError(
            f"it is not finished ({state.phase})",
            where=f"run {run.run_id}",
            fix=f"`rsibench resume {run.run_id}` finishes it; `rsibench status {run.run_id}` shows what there is",
        )
    lock = run.lock()
    head = Head(entries[-1].seq, entries[-1].hash)
    committed_at = next(e.elapsed_ms for e in entries if e.event.kind == "selection.committed")
    started_at = next(e.elapsed_ms for e in entries if e.event.kind == "research.started")
    return RunRecord(
        lock=lock,
        result=RunResult.model_validate_json(run.blobs.get(state.result_blob)),
        journal_head=f"{head.seq}:{head.hash}",
        selection_items=tuple(make_items(lock.protocol.items, Split.SELECTION)),
        official_items=tuple(make_items(lock.protocol.items, Split.OFFICIAL)),
        base_selection_trials=_trials(run, state.base[Split.SELECTION].trials_blob),
        base_official_trials=_trials(run, state.base[Split.OFFICIAL].trials_blob),
        selected_official_trials=_trials(run, state.official.trials_blob),
        attempt_trials={
            one.number: _trials(run, one.trials_blob) for one in state.attempts.values() if one.trials_blob is not None
        },
        submissions=tuple(_submissions(run, state)),
        events=tuple(_event(entry) for entry in entries),
        research_seconds=(committed_at - started_at) / MILLISECONDS_PER_SECOND,
        total_seconds=entries[-1].elapsed_ms / MILLISECONDS_PER_SECOND,
    )


def _trials(run: ArchivedRun, blob: str) -> tuple[Trial, ...]:
    return decode_trials(run.blobs.get(blob), where=f"run {run.run_id}, blob {blob}")


def _submissions(run: ArchivedRun, state: RunState) -> Iterator[RecordedSubmission]:
    for one in state.submissions.values():
        yield RecordedSubmission(
            submission=one.number,
            attempt=one.attempt,
            rows=run.blobs.get(one.rows_blob).decode(errors="replace"),
            config=run.blobs.get(one.config_blob).decode(errors="replace"),
            hypothesis=run.blobs.get(one.hypothesis_blob).decode(errors="replace"),
            problems=_problems(run.blobs.get(one.problems_blob)) if one.problems_blob else (),
        )


def _problems(document: bytes) -> tuple[str, ...]:
    """The reasons of a refusal, one line each."""
    refusal = Refusal.model_validate_json(document)
    if not refusal.problems:
        return (f"{refusal.code}: {refusal.what}",)
    return tuple(
        f"{one.file}{'' if one.row is None else f':{one.row}'}: {one.why} ({one.fix})" for one in refusal.problems
    )


def _event(entry: Entry) -> RecordedEvent:
    body = entry.event.model_dump(mode="json", exclude={"kind"}, exclude_defaults=True)
    return RecordedEvent(entry.seq, entry.at, entry.elapsed_ms, entry.event.kind, json.dumps(body, ensure_ascii=False))
