"""Trials of an evaluation that has not ended, kept on disk so that the next process samples only what is missing.

Invariant: a trial is used again only for the same protocol, seed, items, adapter folder and adapter bytes; all of them
are in the file's name. A line that was cut off is dropped with everything after it. Not a record: the journal and the
blob are, and this file may be deleted at any time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from rsibench.ids import sha256_bytes, sha256_file
from rsibench.outcomes import TrialOutcome
from rsibench.spec.frozen import canonical_json
from rsibench.spec.item import Item, Trial
from rsibench.spec.lock import Lock

_SYNC_EVERY_TRIALS = 32


class Kept(NamedTuple):
    """What an earlier process finished, and the seconds it had taken by then."""

    trials: tuple[Trial, ...]
    seconds: float


def partial_key(lock: Lock, items: Sequence[Item], adapter: Path | None) -> str:
    """Names an evaluation by everything its trials depend on."""
    files = [] if adapter is None else sorted(path for path in adapter.rglob("*") if path.is_file())
    weights = [[path.name, sha256_file(path)] for path in files]
    place = "base" if adapter is None else adapter.parent.name
    digests = [item.item_digest for item in items]
    return sha256_bytes(canonical_json([lock.protocol_digest, lock.run.seed, place, weights, digests]))


class PartialTrials:
    """One evaluation's file. Written lines are durable every few trials and when the block ends."""

    def __init__(self, file: Path) -> None:
        self.kept, length = _read(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        self._lines = file.open("ab")
        self._lines.truncate(length)
        self._unsynced = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._sync()
        self._lines.close()

    def add(self, trial: Trial, seconds: float) -> None:
        """Keeps a trial, `seconds` after the evaluation began. One that infrastructure broke is not kept."""
        if trial.verdict.outcome is TrialOutcome.INFRA_ERROR:
            return
        self._lines.write(json.dumps([seconds, trial.model_dump(mode="json")]).encode() + b"\n")
        self._unsynced += 1
        if self._unsynced >= _SYNC_EVERY_TRIALS:
            self._sync()

    def _sync(self) -> None:
        self._lines.flush()
        os.fsync(self._lines.fileno())
        self._unsynced = 0


def _read(file: Path) -> tuple[Kept, int]:
    """The whole lines of a file and how many bytes they take."""
    trials: list[Trial] = []
    seconds, length = 0.0, 0
    for line in file.read_bytes().splitlines(keepends=True) if file.is_file() else ():
        try:
            at, data = json.loads(line)
            trial = Trial.model_validate_json(json.dumps(data))
            seconds = float(at)
        except (ValueError, TypeError):
            break
        if not line.endswith(b"\n"):
            break
        trials.append(trial)
        length += len(line)
    return Kept(tuple(trials), seconds), length
