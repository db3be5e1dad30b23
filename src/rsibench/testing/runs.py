"""Whole runs for tests: a small profile on the tiny student, planned for real, executed with a FakeEngine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rsibench.errors import InfrastructureFailure
from rsibench.ports.clock import Clock, SystemClock
from rsibench.run.archive import open_archived
from rsibench.run.context import RunContext, open_run
from rsibench.run.engine import TrainOrder
from rsibench.run.home import Home, RunFolder
from rsibench.run.plan import Asked, Planned, plan_run, replan
from rsibench.run.progress import Progress
from rsibench.spec.catalogue import load_profile
from rsibench.spec.lock import Isolation
from rsibench.testing.engine import FakeEngine
from rsibench.testing.student import tiny_student

_PROFILE = """name: tiny
version: "1"
title: A few items on a tiny student, for tests of plumbing
card: Not a benchmark.
student: smollm2-135m-instruct
runner: answer
system_prompt: null
items:
  generator: pocket
  version: "{items_version}"
  families: [{families}]
  selection: {{per_family: 6}}
  official: {{per_family: 9, hidden_template_share: 0.334}}
decoding: {{max_new_tokens: 96, temperature: 0, decodes: 1, batch_rows: 8}}
feedback: trajectories
recipe:
  version: lora-sft-1
  lora: {{alpha: 32, targets: [q_proj], top_layers: 1}}
  optimizer:
    {{beta1: 0.9, beta2: 0.95, eps: 1.0e-8, weight_decay: 0.0, warmup_fraction: 0.0, final_learning_rate_fraction: 1.0}}
  knobs:
    learning_rate: {{default: 0.001, minimum: 0.00001, maximum: 0.01}}
    epochs: {{default: 1, minimum: 1, maximum: 8, whole: true}}
    lora_rank: {{default: 16, minimum: 1, maximum: 32, whole: true}}
  batch_tokens: 4096
  max_train_tokens: 100000
  max_row_tokens: 2048
  near_noop_delta_norm: 0.05
data:
  max_file_bytes: 1000000
  max_line_bytes: 65536
  max_rows: 2000
  max_messages_per_row: 32
  max_json_depth: 16
  max_hypothesis_bytes: 16384
  contamination:
    refuse: [canary, verbatim, near, options, code, patch, answer-key, identifier]
coverage_gate: 0.95
budget:
  wall_seconds: {wall_seconds}
  training_usd: "0.10"
  sampling_usd: "0.20"
  researcher_usd: "0"
  rollout_usd: "0"
  attempts: {attempts}
  final_window_seconds: {final_window_seconds}
  max_early_stops: 1
prices: {{table: tinker-2026-06, model: Qwen/Qwen3-8B, shadow: true}}
"""


def more_rows_more_skill(order: TrainOrder) -> float:
    """A skill that grows with the number of rows and shrinks with the learning rate."""
    return min(0.9, 0.3 + len(order.rows) / 400) * min(1.0, 0.002 / order.config.learning_rate)


@dataclass(frozen=True, slots=True)
class TinyRuns:
    """A home with a tiny student and profile. The same folder gives the same protocol every time."""

    root: Path
    store: str | None = None
    """The URL of a shared database in place of a file in the home."""
    isolation: Isolation = "unisolated"
    """What locks say of the researcher."""

    @property
    def home(self) -> Home:
        return Home(self.root / "runs", self.store)

    def plan(
        self,
        researcher: str,
        *,
        run_id: str,
        seed: int = 0,
        attempts: int = 3,
        wall_seconds: int = 600,
        final_window_seconds: int = 5,
    ) -> Planned:
        """A planned run; the profile's budget can be varied."""
        pocket = load_profile("pocket").items
        self.root.mkdir(parents=True, exist_ok=True)
        profile = self.root / "tiny.yaml"
        profile.write_text(
            _PROFILE.format(
                families=", ".join(pocket.families[:3]),
                items_version=pocket.version,
                attempts=attempts,
                wall_seconds=wall_seconds,
                final_window_seconds=final_window_seconds,
            ),
            encoding="utf-8",
        )
        student = self.root / "student"
        if not student.is_dir():
            tiny_student(student)
        asked = Asked(
            profile=str(profile),
            researcher=researcher,
            seed=seed,
            quick=False,
            model=str(student),
            run_id=run_id,
            isolation=self.isolation,
        )
        return plan_run(asked, self.root / "cache", SystemClock())

    def again(self, run_id: str) -> Planned:
        """A run that was begun before, planned again from its recorded lock, as `rsibench resume` does."""
        with open_archived(self.home, run_id) as archived:
            lock = archived.lock()
        return replan(lock, self.root / "cache")

    @contextmanager
    def open(
        self,
        planned: Planned,
        *,
        skill: Callable[[TrainOrder], float] = more_rows_more_skill,
        failures: dict[int, InfrastructureFailure] | None = None,
        before_step: Callable[[int, int], None] | None = None,
        hang_at: int | None = None,
        clock: Clock | None = None,
    ) -> Iterator[RunContext]:
        """The run's context with a FakeEngine, which is `context.engine`."""

        def engine(planned: Planned, _folder: RunFolder) -> FakeEngine:
            items = (*planned.selection, *planned.official)
            return FakeEngine(
                planned.student.folder,
                planned.renderer,
                items,
                skill=skill,
                failures=failures,
                before_step=before_step,
                hang_at=hang_at,
            )

        with open_run(
            planned, self.home, clock=clock or SystemClock(), progress=Progress(), make_engine=engine
        ) as context:
            yield context
