"""A Session under any order of requests, results, failures and restarts: money adds up and nothing happens twice."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rsibench.errors import BudgetExceeded, LabError, SubmissionRefused
from rsibench.gate.files import SubmissionFiles
from rsibench.journal.events import AnyEvent, AttemptScored, TrainingFinished
from rsibench.journal.fold import fold
from rsibench.journal.state import Phase, Stage
from rsibench.lab.core import Used
from rsibench.lab.replies import SubmissionOutcome, SubmitReply
from rsibench.testing.clock import FakeClock
from rsibench.testing.lab import BUDGET, HYPOTHESIS, LabBench, bench_files
from rsibench.units import Account

TEXTS = ("a", "b", "c", "d", "e")
KEYS = ("k1", "k2", "k3", "k4", "k5", "k6")


class SessionMachine(RuleBasedStateMachine):
    """One run, used by a researcher and a controller in any order."""

    folder: Path

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rsibench-session-"))
        self.bench = LabBench(self.folder)
        self.answers: dict[str, tuple[SubmissionFiles, SubmitReply]] = {}
        self.running: list[int] = []
        self.committed: int | str | None = "open"
        self.best_seconds = self.bench.session.seconds_left()

    def teardown(self) -> None:
        if hasattr(self, "bench"):
            self.bench.__exit__(None, None, None)
            shutil.rmtree(self.folder)

    @property
    def open(self) -> bool:
        return self.committed == "open"

    @rule(text=st.sampled_from(TEXTS), key=st.sampled_from(KEYS), epochs=st.integers(1, 2))
    def submit(self, text: str, key: str, epochs: int) -> None:
        files = bench_files(text, config={"epochs": epochs})
        before, events = self.bench.ledger.balances(), self.bench.journal.head().seq
        known = self.answers.get(key)
        attempts = len(self.bench.state().attempts)
        try:
            reply = self.bench.session.submit(files, key)
        except (LabError, BudgetExceeded) as refused:
            assert self.bench.ledger.balances() == before
            assert len(self.bench.state().attempts) == attempts
            code = refused.code if isinstance(refused, LabError) else ""
            assert self.open or code in ("closed", "key-reused")
            assert known is None or known[0] != files
            return
        if known is not None:
            assert known[0] == files
            assert (reply.submission, reply.attempt, reply.outcome) == (
                known[1].submission,
                known[1].attempt,
                known[1].outcome,
            )
            assert self.bench.journal.head().seq == events
        else:
            assert self.open
            self.answers[key] = (files, reply)
        if reply.outcome is SubmissionOutcome.REPLICATED or known is not None:
            assert self.bench.ledger.balances() == before

    @rule(key=st.sampled_from(KEYS))
    def submit_nonsense(self, key: str) -> None:
        before = self.bench.ledger.balances()
        with pytest.raises(SubmissionRefused if self.open else (SubmissionRefused, LabError)):
            self.bench.session.submit(SubmissionFiles(b"nonsense\n", None, HYPOTHESIS), f"bad-{key}")
        assert self.bench.ledger.balances() == before

    @rule()
    def claim(self) -> None:
        work = self.bench.session.claim_next()
        if work is None:
            return
        assert self.open
        assert work.attempt not in self.running
        self.running.append(work.attempt)
        if work.trained is None:
            assert self.bench.train(work.attempt)
        else:
            assert self.bench.state().attempts[work.attempt].stage is Stage.TRAINED

    @precondition(lambda self: self.running)
    @rule(passed=st.integers(0, 8), data=st.data())
    def score(self, passed: int, data: st.DataObject) -> None:
        attempt = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
        assert self.bench.score(attempt, passed) == self.open

    @precondition(lambda self: self.running)
    @rule(tokens=st.integers(0, 20))
    def fail(self, tokens: int) -> None:
        attempt = self.running.pop()
        used = Used(prompt_tokens=tokens, output_tokens=tokens)
        assert self.bench.session.failed(attempt, failure="worker_lost", detail="killed", used=used) == self.open

    @rule(seconds=st.integers(0, 120))
    def time_passes(self, seconds: int) -> None:
        assert isinstance(self.bench.clock, FakeClock)
        self.bench.clock.advance(seconds)

    @rule(seconds=st.integers(0, 10_000))
    def clock_is_turned_back(self, seconds: int) -> None:
        assert isinstance(self.bench.clock, FakeClock)
        self.bench.clock.turn_back(seconds)

    @rule()
    def restart(self) -> None:
        before, balances = self.bench.state(), self.bench.ledger.balances()
        self.bench.restart()
        assert self.bench.state() == before
        assert self.bench.ledger.balances() == balances
        self.running.clear()
        self.best_seconds = max(self.best_seconds, self.bench.session.seconds_left())

    @rule(attempt=st.none() | st.integers(1, 4), final=st.sampled_from([False, False, False, True]))
    def select(self, attempt: int | None, final: bool) -> None:
        state = self.bench.state()
        scored = attempt is None or (attempt in state.attempts and state.attempts[attempt].stage is Stage.SCORED)
        repeats = final and state.committed is not None and state.committed.rule == "explicit"
        try:
            reply = self.bench.session.select(attempt, final=final)
        except LabError:
            assert not scored or not self.open
            return
        assert scored
        assert self.open or (repeats and self.committed == attempt)
        assert reply.selection.attempt == attempt
        if final:
            self.committed = attempt

    @rule(now=st.integers(0, 9))
    def commit(self, now: int) -> None:
        if now and self.open:
            return
        committed = self.bench.session.commit("operator").attempt
        assert self.open or committed == self.committed
        self.committed = committed

    @invariant()
    def the_money_adds_up(self) -> None:
        if not hasattr(self, "bench"):
            return
        limits = BUDGET.limits()
        balances = self.bench.ledger.balances()
        for account, balance in balances.items():
            assert min(balance.available, balance.reserved, balance.spent) >= 0
            assert balance.available + balance.reserved + balance.spent == limits[account]
        state = self.bench.state()
        assert dict(state.balances) == balances
        scored = sum(attempt.stage is Stage.SCORED for attempt in state.attempts.values())
        waiting = sum(not attempt.stage.final for attempt in state.attempts.values())
        assert balances[Account.ATTEMPTS].spent == scored
        assert balances[Account.ATTEMPTS].reserved == waiting
        self.bench.ledger.check_against(state)

    @invariant()
    def nothing_happens_twice(self) -> None:
        if not hasattr(self, "bench"):
            return
        entries = list(self.bench.journal.entries())
        assert fold(entries) == self.bench.state()
        happened: list[AnyEvent] = [entry.event for entry in entries]
        for kind in (AttemptScored, TrainingFinished):
            attempts = [event.attempt for event in happened if isinstance(event, kind)]
            assert len(attempts) == len(set(attempts))
        kinds = [event.kind for event in happened]
        assert kinds.count("selection.committed") == (0 if self.open else 1)
        if not self.open:
            after = kinds[kinds.index("selection.committed") :]
            assert "submission.received" not in after
            assert "attempt.admitted" not in after

    @invariant()
    def time_is_never_won(self) -> None:
        if not hasattr(self, "bench") or not self.open:
            return
        seconds = self.bench.session.seconds_left()
        assert seconds <= self.best_seconds
        self.best_seconds = seconds
        assert (self.bench.state().phase is Phase.RESEARCHING) == self.open


TestSession = SessionMachine.TestCase
TestSession.settings = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
