"""The context of a run: everything its stages share, opened together and closed together.

One controller at a time works on a run; a file lock in the run's folder says who.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rsibench.errors import EnvironmentFault
from rsibench.gate.leaks.detector import ProtectedIndex
from rsibench.gate.leaks.protected import protected_items
from rsibench.journal.events import RunPlanned, RunResumed
from rsibench.journal.journal import Journal
from rsibench.journal.state import Phase
from rsibench.lab.session import Session
from rsibench.lab.terms import EvaluationBound, LabTerms
from rsibench.ledger.ledger import Ledger
from rsibench.ports.clock import Clock
from rsibench.rendering import ChatMessage, Renderer
from rsibench.run.engine import Engine
from rsibench.run.home import Home, RunFolder
from rsibench.run.pace import Pace
from rsibench.run.plan import Planned
from rsibench.run.progress import Progress
from rsibench.run.tenure import alone_here, tenure
from rsibench.spec.item import Item
from rsibench.spec.profile import Decoding
from rsibench.store.blobs import Blobs
from rsibench.store.runs import RunRow, add_run
from rsibench.store.store import Store

type EngineFactory = Callable[[Planned, RunFolder], Engine]
"""Makes the engine that trains and samples for a planned run."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """What the stages of one run work with."""

    planned: Planned
    folder: RunFolder
    store: Store
    blobs: Blobs
    journal: Journal
    ledger: Ledger
    session: Session
    engine: Engine
    clock: Clock
    progress: Progress
    pace: Pace

    @property
    def run_id(self) -> str:
        return self.planned.lock.run.run_id


@contextmanager
def open_run(
    planned: Planned, home: Home, *, clock: Clock, progress: Progress, make_engine: EngineFactory
) -> Iterator[RunContext]:
    """Opens a planned run, new or begun before, and takes it up in the journal.

    Raises LabError `in-use` when another controller works on it, EnvironmentFault when the store cannot be used.
    """
    lock = planned.lock
    folder = home.run(lock.run.run_id)
    _make(folder.root)
    run_id = lock.run.run_id
    with (
        alone_here(folder.root / "controller.lock", run_id),
        closing(Store.open(home.store_url)) as store,
        tenure(store, run_id, folder.root) as fence,
    ):
        blobs = Blobs(home.blobs)
        _record_plan(planned, store, blobs, folder, clock)
        journal = Journal(store, run_id, clock, fence)
        ledger = Ledger(store, journal)
        pace = Pace()
        terms = LabTerms.of(
            lock.protocol,
            renderer=planned.renderer,
            selection=planned.selection,
            evaluation=evaluation_bound(
                planned.selection, planned.renderer, lock.protocol.decoding, lock.protocol.system_prompt
            ),
            estimate_seconds=pace.attempt_seconds,
            protected=ProtectedIndex(
                protected_items([*planned.selection, *planned.official]), lock.protocol.data.contamination.canaries
            ),
        )
        session = Session(terms, store=store, journal=journal, ledger=ledger, blobs=blobs, clock=clock)
        state = journal.state()
        ledger.check_against(state)
        if state.phase not in (Phase.EMPTY, Phase.SEALED) and (state.interrupted or state.seq > 1):
            journal.append(RunResumed())
        engine = make_engine(planned, folder)
        try:
            yield RunContext(planned, folder, store, blobs, journal, ledger, session, engine, clock, progress, pace)
        finally:
            engine.close()
            session.stop()


def evaluation_bound(
    items: Sequence[Item], renderer: Renderer, decoding: Decoding, system_prompt: str | None
) -> EvaluationBound:
    """The most tokens that one evaluation of `items` can read and write."""
    prompts = sum(len(renderer.render_prompt(item_messages(item, system_prompt))) for item in items)
    return EvaluationBound(
        prompt_tokens=prompts * decoding.decodes,
        output_tokens=len(items) * decoding.decodes * decoding.max_new_tokens,
    )


def item_messages(item: Item, system_prompt: str | None) -> list[ChatMessage]:
    """The chat that an item is asked in."""
    system = [ChatMessage(role="system", content=system_prompt)] if system_prompt is not None else []
    return [*system, ChatMessage(role="user", content=item.prompt)]


def _record_plan(planned: Planned, store: Store, blobs: Blobs, folder: RunFolder, clock: Clock) -> None:
    """Writes the lock, the run's row and its first event, once: all of them or none."""
    lock = planned.lock
    lock_bytes = lock.canonical()
    row = RunRow(
        run_id=lock.run.run_id,
        created_at=lock.run.planned_at,
        profile=lock.protocol.profile,
        variant=lock.protocol.variant,
        researcher=lock.run.researcher,
        seed=lock.run.seed,
        protocol_digest=lock.protocol_digest,
    )
    planned_event = RunPlanned(
        protocol_digest=lock.protocol_digest,
        lock_blob=blobs.put(lock_bytes),
        profile=lock.protocol.profile,
        variant=lock.protocol.variant,
        researcher=lock.run.researcher,
        seed=lock.run.seed,
        isolation=lock.run.isolation,
    )
    with store.transaction(lock.run.run_id) as connection:
        add_run(connection, row)
        journal = Journal(store, lock.run.run_id, clock)
        if journal.state().phase is Phase.EMPTY:
            journal.append(planned_event)
            folder.lock.write_bytes(lock_bytes)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFault(
            f"the folder cannot be made: {error.strerror}",
            where=str(folder),
            fix="set RSIBENCH_HOME to a folder that can be written",
        ) from error
