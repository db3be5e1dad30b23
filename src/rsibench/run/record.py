"""A run as it was recorded: what pages and commands show. Everything in it comes from the journal and its blobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rsibench.run.result import RunResult
from rsibench.spec.item import Item, Trial
from rsibench.spec.lock import Lock


@dataclass(frozen=True, slots=True)
class RecordedSubmission:
    """The three files of a submission, as text; `problems` when it was refused, as the researcher was told them."""

    submission: int
    attempt: int | None
    rows: str
    config: str
    hypothesis: str
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """One line of the journal, for the page's list of what happened."""

    seq: int
    at: datetime
    elapsed_ms: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A sealed run. `attempt_trials` are those of the selection split, by attempt."""

    lock: Lock
    result: RunResult
    journal_head: str
    selection_items: tuple[Item, ...]
    official_items: tuple[Item, ...]
    base_selection_trials: tuple[Trial, ...]
    base_official_trials: tuple[Trial, ...]
    selected_official_trials: tuple[Trial, ...]
    attempt_trials: dict[int, tuple[Trial, ...]]
    submissions: tuple[RecordedSubmission, ...]
    events: tuple[RecordedEvent, ...]
    research_seconds: float
    total_seconds: float
