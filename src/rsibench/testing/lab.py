"""LabBench: a real Session over a real store, on the tiny tokenizer, with a controller that trains and scores by hand.

Nothing is trained and no student answers; trials are made up to the number of passes that a test asks for. Everything
else (gate, journal, ledger, blobs) is what a run uses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Self

from rsibench.gate.files import SubmissionFiles
from rsibench.gate.submission import GatePolicy
from rsibench.ids import sha256_bytes
from rsibench.journal import events
from rsibench.journal.journal import Journal
from rsibench.journal.state import RunState
from rsibench.lab.session import Session
from rsibench.lab.terms import EvaluationBound, LabTerms
from rsibench.ledger.ledger import Ledger
from rsibench.outcomes import FinishReason, TrialOutcome
from rsibench.ports.clock import Clock
from rsibench.rendering import load_renderer
from rsibench.spec.budget import Budget
from rsibench.spec.item import Item, Split, Trial, Verdict
from rsibench.spec.prices import ModelPrice, Pricing
from rsibench.spec.profile import DataPolicy, FeedbackLevel
from rsibench.spec.recipe import Knob, Knobs, LoraShape, Optimizer, Recipe
from rsibench.spec.score import FamilyScore, Score
from rsibench.store.blobs import Blobs
from rsibench.store.dialect import sqlite_url
from rsibench.store.runs import RunRow, add_run
from rsibench.store.store import Store
from rsibench.testing.clock import FakeClock
from rsibench.testing.tokenizer import tiny_tokenizer

FAMILIES = ("sums", "words")
ITEMS_PER_FAMILY = 4
PROMPT_TOKENS, OUTPUT_TOKENS = 20, 8
TRAIN_TOKENS_PER_SECOND = 100.0
RECIPE = Recipe(
    version="bench-1",
    lora=LoraShape(alpha=32, targets=("q_proj",), top_layers=1),
    optimizer=Optimizer(
        beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.0, warmup_fraction=0.0, final_learning_rate_fraction=1.0
    ),
    knobs=Knobs(
        learning_rate=Knob(default=1e-3, minimum=1e-5, maximum=5e-3),
        epochs=Knob(default=1, minimum=1, maximum=4, whole=True),
        lora_rank=Knob(default=8, minimum=8, maximum=8, whole=True),
    ),
    batch_tokens=256,
    max_train_tokens=4_000,
    max_row_tokens=256,
    near_noop_delta_norm=0.0,
)
DATA = DataPolicy(
    max_file_bytes=200_000,
    max_line_bytes=4_096,
    max_rows=100,
    max_messages_per_row=8,
    max_json_depth=10,
    max_hypothesis_bytes=1_000,
)
BUDGET = Budget(
    wall_seconds=1_000,
    training_usd=Decimal("0.02"),
    sampling_usd=Decimal("0.01"),
    researcher_usd=Decimal(0),
    rollout_usd=Decimal(0),
    attempts=4,
    final_window_seconds=100,
    max_early_stops=1,
)
PRICING = Pricing(
    table="bench",
    dated=date(2030, 1, 1),
    model="tiny",
    shadow=True,
    price=ModelPrice(prefill=Decimal(1), sample=Decimal(2), train=Decimal(3)),
)
HYPOTHESIS = b"The student cannot add; worked sums should move `sums`.\n"


def bench_items() -> tuple[Item, ...]:
    """The selection items: sums and words, with answers that must never be shown."""
    return tuple(
        Item(
            item_id=f"{family}-{number}",
            family=family,
            template=f"{family}/plain",
            prompt=f"A question about {family}, number {number}",
            grader="integer",
            expected=f"secret-{family}-{number}",
        )
        for family in FAMILIES
        for number in range(ITEMS_PER_FAMILY)
    )


def bench_trials(passed: int, items: Sequence[Item]) -> tuple[Trial, ...]:
    """One trial an item; the first `passed` pass."""
    return tuple(
        Trial(
            item_id=item.item_id,
            item_digest=item.item_digest,
            family=item.family,
            template=item.template,
            decode=0,
            prompt_digest=sha256_bytes(item.prompt.encode()),
            output=f"an output for {item.item_id}",
            finish_reason=FinishReason.STOP,
            prompt_tokens=PROMPT_TOKENS,
            output_tokens=OUTPUT_TOKENS,
            verdict=Verdict(outcome=TrialOutcome.PASS if place < passed else TrialOutcome.FAIL, extracted="7"),
        )
        for place, item in enumerate(items)
    )


def bench_score(trials: Sequence[Trial]) -> Score:
    """The score of trials that all counted. The interval is not a real one."""
    passed = sum(trial.verdict.outcome is TrialOutcome.PASS for trial in trials)
    rate = passed / len(trials)
    by_family = {family: [trial for trial in trials if trial.family == family] for family in FAMILIES}
    return Score(
        rate=rate,
        passed=passed,
        counted=len(trials),
        total=len(trials),
        interval_low=max(0.0, rate - 0.1),
        interval_high=min(1.0, rate + 0.1),
        bound_low=rate,
        bound_high=rate,
        coverage=1.0,
        outcomes={"pass": passed, "fail": len(trials) - passed},
        families=tuple(
            FamilyScore(
                family=family,
                passed=sum(trial.verdict.outcome is TrialOutcome.PASS for trial in members),
                counted=len(members),
                total=len(members),
            )
            for family, members in by_family.items()
        ),
        prompt_tokens=sum(trial.prompt_tokens for trial in trials),
        output_tokens=sum(trial.output_tokens for trial in trials),
    )


def bench_row(text: str, **extra: object) -> dict[str, object]:
    """A good row about `text`."""
    messages = [{"role": "user", "content": f"say {text}"}, {"role": "assistant", "content": text}]
    return {"messages": messages, **extra}


def bench_files(*texts: str, config: Mapping[str, object] | None = None) -> SubmissionFiles:
    """A good submission with a row for each text."""
    rows = "".join(json.dumps(bench_row(text)) + "\n" for text in texts).encode()
    return SubmissionFiles(rows, None if config is None else json.dumps(config).encode(), HYPOTHESIS)


class LabBench:
    """A prepared run in `folder` with its Session; research is open. Use it as a context manager."""

    run_id = "pocket-bench-1"

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock | None = None,
        feedback: FeedbackLevel = FeedbackLevel.TRAJECTORIES,
        budget: Budget = BUDGET,
        pricing: Pricing = PRICING,
        estimate_seconds: Callable[[int], float] = lambda tokens: tokens / TRAIN_TOKENS_PER_SECOND,
    ) -> None:
        self.folder = folder
        self.clock: Clock = clock or FakeClock()
        self.items = bench_items()
        renderer = load_renderer("chatml", tiny_tokenizer(folder / "student"))
        self.terms = LabTerms(
            profile="bench",
            variant="full",
            gate=GatePolicy(recipe=RECIPE, data=DATA, renderer=renderer),
            budget=budget,
            pricing=pricing,
            feedback=feedback,
            items={item.item_id: item for item in self.items},
            evaluation=EvaluationBound(PROMPT_TOKENS * len(self.items), 2 * OUTPUT_TOKENS * len(self.items)),
            estimate_seconds=estimate_seconds,
        )
        self.store = Store.open(sqlite_url(folder / "bench.sqlite"))
        self.blobs = Blobs(folder / "blobs")
        with self.store.transaction() as connection:
            add_run(connection, RunRow(self.run_id, self.clock.now(), "bench", "full", "built", 1, "0" * 64))
        self.session = self._open()
        self._prepare()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.session.stop()
        self.store.close()

    def state(self) -> RunState:
        """The run's state."""
        return self.session.state()

    def restart(self) -> Session:
        """Forgets everything in memory and builds the Session again, as a new controller would."""
        self.session.stop()
        self.store.close()
        self.store = Store.open(sqlite_url(self.folder / "bench.sqlite"))
        self.blobs = Blobs(self.folder / "blobs")
        self.session = self._open()
        self.session.recover()
        return self.session

    def train(self, attempt: int) -> bool:
        """Records a training of an attempt from start to end."""
        adapter = self.blobs.put(f"adapter of attempt {attempt}".encode())
        tokens = self.state().attempts[attempt].train_tokens
        return self.session.training_started(attempt) and self.session.training_finished(
            events.TrainingFinished(
                attempt=attempt,
                adapter_sha256=adapter,
                adapter_blob=adapter,
                student_weights_sha256=sha256_bytes(b"student"),
                steps=1,
                train_tokens=tokens,
                loss_tokens=tokens // 2,
                first_loss=2.0,
                last_loss=1.0,
                delta_norm=1.0,
                near_noop=False,
            )
        )

    def score(self, attempt: int, passed: int) -> bool:
        """Records a trained attempt's score of `passed` items."""
        trials = bench_trials(passed, self.items)
        return self.session.scored(attempt, self._trials_blob(trials), bench_score(trials))

    def finish_next(self, passed: int) -> int:
        """Claims the next attempt, trains and scores it; returns its number."""
        work = self.session.claim_next()
        if work is None:
            raise LookupError("there is no attempt to claim")
        if work.trained is None:
            self.train(work.attempt)
        self.score(work.attempt, passed)
        return work.attempt

    def _open(self) -> Session:
        self.journal = Journal(self.store, self.run_id, self.clock)
        self.ledger = Ledger(self.store, self.journal)
        return Session(
            self.terms,
            store=self.store,
            journal=self.journal,
            ledger=self.ledger,
            blobs=self.blobs,
            clock=self.clock,
        )

    def _prepare(self) -> None:
        planned = events.RunPlanned(
            protocol_digest="0" * 64,
            lock_blob=self.blobs.put(b"{}"),
            profile="bench",
            variant="full",
            researcher="built",
            seed=1,
            isolation="unisolated",
        )
        trials = bench_trials(2, self.items)
        self.journal.append(planned)
        self.ledger.open(self.terms.budget.limits())
        base = events.BaseScored(
            split=Split.SELECTION, trials_blob=self._trials_blob(trials), score=bench_score(trials)
        )
        self.journal.append(base)
        self.session.open_research()

    def _trials_blob(self, trials: Sequence[Trial]) -> str:
        return self.blobs.put(b"".join(trial.canonical() + b"\n" for trial in trials))
