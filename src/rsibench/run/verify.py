"""Verification: recomputes what a run printed from its journal and blobs, offline, and says what does not agree.

Nothing is trusted but the pinned program: the chain, the state machine, the budget, every blob, every verdict, every
score, the selection rule, and the result. It does not train again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rsibench.errors import IntegrityError, RsibenchError
from rsibench.evaluation.answer import regrade
from rsibench.evaluation.generators import make_items
from rsibench.evaluation.scoring import score_trials
from rsibench.ids import sha256_file
from rsibench.journal.chain import VerifiedChain, verify_chain
from rsibench.journal.envelope import Entry, Head
from rsibench.journal.fold import fold
from rsibench.journal.state import Phase, RunState
from rsibench.lab.feedback import build_feedback
from rsibench.ledger.ledger import Ledger
from rsibench.run.agree import agree, differences
from rsibench.run.archive import ArchivedRun
from rsibench.run.attempts import ADAPTER_WEIGHTS
from rsibench.run.result import RunResult
from rsibench.run.summarise import summarise
from rsibench.run.trials import decode_trials
from rsibench.spec.item import Item, Split
from rsibench.spec.lock import Lock
from rsibench.spec.score import Score
from rsibench.store.store import Store


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was recomputed. `problem` says where and how it differs, empty when it agrees."""

    name: str
    looked_at: str
    problem: str = ""

    @property
    def ok(self) -> bool:
        return not self.problem


@dataclass(frozen=True, slots=True)
class Verification:
    """All checks of one run, and the head that identifies what was verified."""

    run_id: str
    checks: tuple[Check, ...]
    head: str | None

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)


def verify(run: ArchivedRun, store: Store, *, expected_head: Head | None = None) -> Verification:
    """Every check that can still be made: a broken chain or history ends it, later checks are made independently."""
    checks: list[Check] = []
    chain = _checked(checks, "hash chain", lambda: _chain(run, expected_head))
    entries: list[Entry] = []
    state = _checked(checks, "history", lambda: _history(run, entries)) if chain else None
    lock = _checked(checks, "lock", lambda: _lock(run, entries)) if state else None
    if state is not None and lock is not None:
        for name, look in _independent(run, store, entries, state, lock):
            _checked(checks, name, look)
    return Verification(run.run_id, tuple(checks), f"{chain.head.seq}:{chain.head.hash}" if chain else None)


def _independent(
    run: ArchivedRun, store: Store, entries: Sequence[Entry], state: RunState, lock: Lock
) -> Iterator[tuple[str, Callable[[], tuple[object, str]]]]:
    yield "budget", lambda: _budget(store, run, state)
    yield "items", lambda: _items(lock)
    yield "submissions", lambda: _submissions(run, state)
    yield "adapters", lambda: _adapters(run, state)
    yield "verdicts and scores", lambda: _scores(run, state, lock)
    yield "feedback", lambda: _feedback(run, state, lock)
    if state.phase is Phase.SEALED:
        yield "result", lambda: _result(run, entries, state, lock)


def _checked[T](checks: list[Check], name: str, look: Callable[[], tuple[T, str]]) -> T | None:
    try:
        found, looked_at = look()
    except RsibenchError as error:
        checks.append(Check(name, "", str(error)))
        return None
    checks.append(Check(name, looked_at))
    return found


def _chain(run: ArchivedRun, expected_head: Head | None) -> tuple[VerifiedChain, str]:
    chain = verify_chain(run.journal.rows(), run_id=run.run_id, expected_head=expected_head)
    return chain, f"{chain.events} events"


def _history(run: ArchivedRun, entries: list[Entry]) -> tuple[RunState, str]:
    entries.extend(run.entries())
    state = fold(entries, run.run_id)
    return state, f"{len(state.attempts)} attempts, {state.phase}"


def _lock(run: ArchivedRun, entries: Sequence[Entry]) -> tuple[Lock, str]:
    lock = run.lock()
    plan = entries[0].event
    journaled = getattr(plan, "protocol_digest", None)
    if lock.protocol_digest != journaled:
        raise _differs("the lock", f"protocol digest {lock.protocol_digest}", f"{journaled} was journaled")
    if run.folder.lock.is_file() and run.folder.lock.read_bytes() != run.lock_bytes():
        raise _differs(str(run.folder.lock), "its bytes", "they are not the lock that was journaled")
    return lock, f"protocol {lock.protocol_digest[:12]}"


def _budget(store: Store, run: ArchivedRun, state: RunState) -> tuple[None, str]:
    Ledger(store, run.journal).check_against(state)
    return None, f"{len(state.reservations)} reservations"


def _items(lock: Lock) -> tuple[None, str]:
    protocol = lock.protocol
    for split, recorded in ((Split.SELECTION, protocol.selection), (Split.OFFICIAL, protocol.official)):
        made = make_items(protocol.items, split)
        if tuple(item.item_digest for item in made) != recorded.item_digests:
            raise _differs(f"the {split} items", "what the generator makes now", "the lock lists other digests")
    return None, f"{len(protocol.selection.item_ids)} + {len(protocol.official.item_ids)} items"


def _submissions(run: ArchivedRun, state: RunState) -> tuple[None, str]:
    for one in state.submissions.values():
        for blob in (one.rows_blob, one.config_blob, one.hypothesis_blob, one.problems_blob):
            if blob is not None:
                run.blobs.checked_path(blob)
    return None, f"{len(state.submissions)} submissions"


def _adapters(run: ArchivedRun, state: RunState) -> tuple[None, str]:
    """Every adapter's blob, and the working copy in the run's folder where it is still there."""
    trained = [one for one in state.attempts.values() if one.adapter_sha256 is not None]
    for attempt in trained:
        recorded = attempt.adapter_sha256 or ""
        run.blobs.checked_path(recorded)
        working = run.folder.adapter(attempt.number) / ADAPTER_WEIGHTS
        if working.is_file() and (found := sha256_file(working)) != recorded:
            raise _differs(str(working), f"it hashes to {found}", f"attempt {attempt.number} trained {recorded}")
    return None, f"{len(trained)} adapters"


def _scores(run: ArchivedRun, state: RunState, lock: Lock) -> tuple[None, str]:
    """Grades every output again and computes every score again."""
    protocol = lock.protocol
    items = {split: {item.item_id: item for item in make_items(protocol.items, split)} for split in Split}
    looked_at = 0
    for name, split, blob, score in _scored(state):
        looked_at += _regrade(name, run, blob, score, items[split], lock)
    return None, f"{looked_at} trials"


def _scored(state: RunState) -> Iterator[tuple[str, Split, str, Score]]:
    for split, base in state.base.items():
        yield f"base student, {split}", split, base.trials_blob, base.score
    for attempt in state.attempts.values():
        if attempt.trials_blob is not None and attempt.score is not None:
            yield f"attempt {attempt.number}", Split.SELECTION, attempt.trials_blob, attempt.score
    if state.official is not None:
        yield "official", Split.OFFICIAL, state.official.trials_blob, state.official.score


def _regrade(name: str, run: ArchivedRun, blob: str, score: Score, items: dict[str, Item], lock: Lock) -> int:
    trials = decode_trials(run.blobs.get(blob), where=f"run {run.run_id}, {name}")
    for trial in trials:
        item = items.get(trial.item_id)
        if item is None or item.item_digest != trial.item_digest:
            raise _differs(f"{name}, {trial.item_id}", "the trial is of an item", "the split does not have it")
        verdict = regrade(item, trial)
        if verdict != trial.verdict:
            raise _differs(f"{name}, {trial.item_id}", f"graded again: {verdict.outcome}", trial.verdict.outcome)
    if not agree(score_trials(trials, lock.protocol.coverage_gate), score):
        raise _differs(name, "the score of its trials", "another one was journaled")
    return len(trials)


def _feedback(run: ArchivedRun, state: RunState, lock: Lock) -> tuple[None, str]:
    """What the researcher was told is what the trials say, and no more than the profile's level allows."""
    items = {item.item_id: item for item in make_items(lock.protocol.items, Split.SELECTION)}
    released = [one for one in state.attempts.values() if one.feedback_blob is not None]
    for attempt in released:
        if attempt.trials_blob is None or attempt.score is None or attempt.feedback_blob is None:
            continue
        trials = decode_trials(run.blobs.get(attempt.trials_blob), where=f"run {run.run_id}")
        made = build_feedback(attempt.number, trials, attempt.score, items, lock.protocol.feedback)
        if made.canonical() != run.blobs.get(attempt.feedback_blob):
            raise _differs(
                f"feedback of attempt {attempt.number}", "made again from its trials", "other bytes were released"
            )
    return None, f"{len(released)} documents"


def _result(run: ArchivedRun, entries: Sequence[Entry], state: RunState, lock: Lock) -> tuple[None, str]:
    recorded = RunResult.model_validate_json(run.blobs.get(state.result_blob or ""))
    made = summarise(lock, state, entries, run.blobs)
    if names := differences(made, recorded):
        raise _differs("the result", f"{', '.join(names)} recomputed", "other values were recorded")
    if run.folder.result.is_file() and _copy_of_result(run.folder.result) != recorded:
        raise _differs(str(run.folder.result), "its values", "they are not the recorded result")
    return None, "every number recomputed"


def _copy_of_result(path: Path) -> RunResult | None:
    try:
        return RunResult.model_validate_json(path.read_bytes())
    except ValueError:
        return None


def _differs(where: str, found: str, recorded: str) -> IntegrityError:
    return IntegrityError(
        f"{found}, but {recorded}", where=where, fix="something was changed after the run; restore it from a copy"
    )
