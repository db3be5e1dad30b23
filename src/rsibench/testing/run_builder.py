"""RunBuilder: a small valid run, written step by step into a real store, for tests that need a journal to look at.

Every step writes what a controller would write, blobs and ledger included; nothing is trained and scores are given. The
journal refuses steps out of order, as it would for a controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from rsibench.ids import sha256_bytes
from rsibench.journal import events
from rsibench.journal.journal import Journal
from rsibench.ledger.ledger import Ledger
from rsibench.outcomes import AttemptOutcome
from rsibench.spec.frozen import canonical_json
from rsibench.spec.item import Split
from rsibench.spec.recipe import RunConfig
from rsibench.spec.score import FamilyScore, Score
from rsibench.store.blobs import Blobs
from rsibench.store.dialect import sqlite_url
from rsibench.store.runs import RunRow, add_run
from rsibench.store.store import Store
from rsibench.testing.clock import FakeClock
from rsibench.units import Account

SELECTION_TRIALS = 40
OFFICIAL_TRIALS = 100
WALL_KEY = "run/wall"
CONFIG = RunConfig(learning_rate=0.001, epochs=1, lora_rank=16)
LIMITS = {
    Account.WALL: 1_800_000,
    Account.TRAINING: 400_000,
    Account.SAMPLING: 100_000,
    Account.RESEARCHER: 0,
    Account.ROLLOUT: 0,
    Account.ATTEMPTS: 4,
}
ATTEMPT_COST = {Account.TRAINING: 50_000, Account.SAMPLING: 10_000, Account.ATTEMPTS: 1}


def make_score(passed: int, total: int) -> Score:
    """A score in which every trial counted. The interval is not a real one."""
    rate = passed / total
    return Score(
        rate=rate,
        passed=passed,
        counted=total,
        total=total,
        interval_low=max(0.0, rate - 0.1),
        interval_high=min(1.0, rate + 0.1),
        bound_low=rate,
        bound_high=rate,
        coverage=1.0,
        outcomes={"pass": passed, "fail": total - passed},
        families=(FamilyScore(family="sums", passed=passed, counted=total, total=total),),
        prompt_tokens=20 * total,
        output_tokens=8 * total,
    )


class RunBuilder:
    """A run in `folder`: `store`, `blobs`, `journal`, `ledger` and `clock`. Use it as a context manager.

    The store is a SQLite file in the folder, or the one at `url`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        run_id: str = "pocket-built-1",
        seed: int = 1,
        step_seconds: float = 1.5,
        url: str | None = None,
        limits: Mapping[Account, int] = LIMITS,
    ) -> None:
        self.clock = FakeClock()
        self.store = Store.open(sqlite_url(folder / "rsibench.sqlite") if url is None else url)
        self.blobs = Blobs(folder / "blobs")
        self.run_id = run_id
        self._seed = seed
        self._limits = dict(limits)
        self._step_seconds = step_seconds
        run = RunRow(run_id, self.clock.now(), "pocket", "full", "built", seed, sha256_bytes(b"protocol"))
        with self.store.transaction() as connection:
            add_run(connection, run)
        self.journal = Journal(self.store, run_id, self.clock)
        self.ledger = Ledger(self.store, self.journal)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def append(self, event: events.AnyEvent) -> None:
        """Records any event, a moment later than the one before."""
        self.clock.advance(self._step_seconds)
        self.journal.append(event)

    def blob(self, content: str) -> str:
        """Stores a small blob, returns its SHA-256."""
        return self.blobs.put(canonical_json({"content": content}))

    def prepare(self, base_passed: int = 10) -> None:
        """Plans the run, opens the budget and scores the base student on the selection split."""
        self.append(
            events.RunPlanned(
                protocol_digest=sha256_bytes(b"protocol"),
                lock_blob=self.blob(f"lock of {self.run_id}"),
                profile="pocket",
                variant="full",
                researcher="built",
                seed=self._seed,
                isolation="unisolated",
            )
        )
        self.ledger.open(self._limits)
        self.append(self._base(Split.SELECTION, base_passed, SELECTION_TRIALS))

    def start_research(self) -> None:
        """Reserves the whole wall time and starts the researcher."""
        self.ledger.reserve(WALL_KEY, {Account.WALL: self._limits[Account.WALL]})
        self.append(events.ResearchStarted())
        self.append(events.ResearcherStarted(number=1))

    def submit(self, content: str) -> int:
        """Receives a submission whose rows are made of `content`; returns its number."""
        number = len(self.journal.state().submissions) + 1
        self.append(
            events.SubmissionReceived(
                submission=number,
                rows_blob=self.blob(content),
                config_blob=self.blob("config"),
                hypothesis_blob=self.blob(f"hypothesis about {content}"),
                submission_digest=sha256_bytes(content.encode()),
                idempotency_key=f"key-{number}",
            )
        )
        return number

    def refuse(self, submission: int) -> None:
        """Refuses a submission for one reason."""
        problems = self.blob(f"problems of submission {submission}")
        codes = {"not_json": 1}
        refused = events.SubmissionRefused(
            submission=submission, problems_blob=problems, problem_codes=codes, incidents=()
        )
        self.append(refused)

    def replicate(self, submission: int, attempt: int) -> None:
        """Records a submission as a repetition of an attempt."""
        self.append(events.SubmissionReplicated(submission=submission, attempt=attempt))

    def admit(self, submission: int) -> int:
        """Reserves an attempt's cost and admits a submission; returns the attempt's number."""
        number = len(self.journal.state().attempts) + 1
        key = f"attempt/{number}"
        with self.store.transaction():
            self.ledger.reserve(key, ATTEMPT_COST)
            self.append(
                events.AttemptAdmitted(
                    attempt=number,
                    submission=submission,
                    rows=12,
                    row_tokens=900,
                    loss_tokens=400,
                    train_tokens=900,
                    config=CONFIG,
                    reservation=key,
                )
            )
        return number

    def train(self, attempt: int) -> None:
        """Starts and finishes an attempt's training."""
        self.append(events.TrainingStarted(attempt=attempt))
        adapter = self.blob(f"adapter of attempt {attempt}")
        self.append(
            events.TrainingFinished(
                attempt=attempt,
                adapter_sha256=adapter,
                adapter_blob=adapter,
                student_weights_sha256=sha256_bytes(b"student"),
                steps=3,
                train_tokens=900,
                loss_tokens=400,
                first_loss=2.5,
                last_loss=0.75,
                delta_norm=1.25,
                near_noop=False,
                measured=events.Measured(wall_ms=1_234, tokens_per_second=731.5),
            )
        )

    def score(self, attempt: int, passed: int) -> None:
        """Scores a trained attempt on the selection split, settles its cost and releases feedback."""
        cost = {Account.TRAINING: 30_000, Account.SAMPLING: 9_000, Account.ATTEMPTS: 1}
        trials = self.blob(f"selection trials of attempt {attempt}")
        scored = events.AttemptScored(attempt=attempt, trials_blob=trials, score=make_score(passed, SELECTION_TRIALS))
        with self.store.transaction():
            self.append(scored)
            self.ledger.settle(f"attempt/{attempt}", cost)
        self.append(events.FeedbackReleased(attempt=attempt, feedback_blob=self.blob(f"feedback on {attempt}")))

    def fail(self, attempt: int) -> None:
        """Ends an attempt with an infrastructure failure and gives its reservation back."""
        ended = events.AttemptEnded(
            attempt=attempt, outcome=AttemptOutcome.FAILED, failure="out_of_memory", detail="the worker was killed"
        )
        with self.store.transaction():
            self.append(ended)
            self.ledger.release(f"attempt/{attempt}")

    def commit(self, attempt: int | None, *, explicit: bool = True) -> None:
        """Ends the research with a selection, made by the researcher or by the default rule."""
        if explicit:
            self.append(events.SelectionProposed(attempt=attempt))
        rule: Literal["explicit", "best-selection-score-earliest"]
        rule = "explicit" if explicit else "best-selection-score-earliest"
        self.append(events.SelectionCommitted(attempt=attempt, rule=rule, reason="researcher"))
        self.append(events.ResearcherExited(number=1, exit_code=0, stopped_by_controller=False))

    def finish(self, base_passed: int = 26, passed: int = 70) -> None:
        """Opens and scores the official split, settles the wall time and seals the run."""
        committed = self.journal.state().committed
        attempt = None if committed is None else committed.attempt
        self.append(events.OfficialOpened())
        self.append(self._base(Split.OFFICIAL, base_passed, OFFICIAL_TRIALS))
        score = make_score(base_passed if attempt is None else passed, OFFICIAL_TRIALS)
        trials = self.blob(f"official trials of attempt {attempt}")
        self.append(events.OfficialScored(attempt=attempt, trials_blob=trials, score=score))
        self.ledger.settle(WALL_KEY, {}, wall_units=self.journal.elapsed_ms())
        self.append(events.RunSealed(result_blob=self.blob("result")))

    def whole(self) -> Self:
        """A whole run: two attempts scored and one failed, a refusal and a repetition; the second attempt is chosen."""
        self.prepare()
        self.start_research()
        for content, passed in (("first", 15), ("second", 30)):
            attempt = self.admit(self.submit(content))
            self.train(attempt)
            self.score(attempt, passed)
        self.refuse(self.submit("broken"))
        self.replicate(self.submit("second"), attempt=2)
        self.fail(self.admit(self.submit("third")))
        self.commit(2)
        self.finish()
        return self

    def _base(self, split: Split, passed: int, total: int) -> events.BaseScored:
        trials = self.blob(f"{split} trials of the base student")
        return events.BaseScored(split=split, trials_blob=trials, score=make_score(passed, total))
