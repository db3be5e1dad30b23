"""Whole runs with scripted researchers as processes, a real lab and a fake engine."""

from __future__ import annotations

import json

import pytest

from rsibench.errors import InfrastructureFailure, LabError
from rsibench.journal.comparable import comparable
from rsibench.journal.events import BaseScored, ResearcherExited
from rsibench.journal.state import Decision, Phase, Stage
from rsibench.run.execute import execute
from rsibench.run.result import RunResult
from rsibench.spec.item import Split
from rsibench.testing.runs import TinyRuns
from rsibench.units import Account


def run_once(runs: TinyRuns, researcher: str, run_id: str, **plan: int) -> RunResult:
    with runs.open(runs.plan(researcher, run_id=run_id, **plan)) as context:
        return execute(context)


def test_feedback_selects_its_best_attempt_and_is_sealed(runs: TinyRuns) -> None:
    with runs.open(runs.plan("feedback", run_id="run-feedback")) as context:
        result = execute(context)
        state = context.journal.state()
    assert state.phase is Phase.SEALED
    rates = {one.attempt: one.score.rate for one in result.attempts if one.score and one.score.rate is not None}
    assert len(rates) == 3
    best = max(rates.values())
    assert result.selected_attempt == min(attempt for attempt, rate in rates.items() if rate == best)
    assert result.selection_rule == "explicit"
    assert result.selected_official.total == result.base_official.total == 27
    assert result.official_difference is not None
    assert result.official_difference.mean == pytest.approx(
        (result.selected_official.rate or 0) - (result.base_official.rate or 0)
    )
    assert "unisolated" in result.labels


def test_what_was_spent_is_what_the_tokens_cost(runs: TinyRuns) -> None:
    with runs.open(runs.plan("one-shot", run_id="run-one-shot")) as context:
        result = execute(context)
    pricing = context.planned.lock.protocol.pricing
    (attempt,) = result.attempts
    assert attempt.score is not None
    assert result.spent[Account.TRAINING] == pricing.training_micro_usd(attempt.train_tokens)
    sampling = [(s.prompt_tokens, s.output_tokens) for s in (attempt.score, result.selected_official)]
    assert result.spent[Account.SAMPLING] == sum(pricing.sampling_micro_usd(*tokens) for tokens in sampling)
    assert result.spent[Account.ATTEMPTS] == 1


def test_the_same_plan_twice_gives_the_same_journal_and_result(runs: TinyRuns) -> None:
    journals, results = [], []
    for name in ("run-a", "run-b"):
        with runs.open(runs.plan("feedback", run_id=name)) as context:
            results.append(execute(context).model_dump(exclude={"run_id"}))
            journals.append(list(comparable(context.journal.entries())))
    assert results[0] == results[1]
    assert journals[0] == journals[1]


def test_another_seed_gives_other_adapters(runs: TinyRuns) -> None:
    first, second = (run_once(runs, "one-shot", f"run-{seed}", seed=seed) for seed in (1, 2))
    assert first.attempts[0].adapter_sha256 != second.attempts[0].adapter_sha256
    assert first.protocol_digest == second.protocol_digest


def test_the_base_is_scored_once_a_protocol(runs: TinyRuns) -> None:
    cached = []
    for name in ("run-a", "run-b"):
        with runs.open(runs.plan("no-op", run_id=name)) as context:
            execute(context)
            events = [e.event for e in context.journal.entries() if isinstance(e.event, BaseScored)]
            cached.append({event.split: event.measured.cached for event in events})
    assert cached == [dict.fromkeys(Split, False), dict.fromkeys(Split, True)]


def test_overreach_keeps_its_last_attempt_although_it_is_worse(runs: TinyRuns) -> None:
    result = run_once(runs, "overreach", "run-overreach")
    rates = [one.score.rate or 0.0 for one in result.attempts if one.score]
    assert result.selected_attempt == len(result.attempts) == 3
    assert rates[-1] < max(rates)


def test_best_of_n_spends_every_attempt(runs: TinyRuns) -> None:
    result = run_once(runs, "best-of-n", "run-best")
    assert result.spent[Account.ATTEMPTS] == result.limits[Account.ATTEMPTS]
    assert len({one.adapter_sha256 for one in result.attempts}) == len(result.attempts)


def test_an_infrastructure_failure_is_tried_again_and_never_a_zero(runs: TinyRuns) -> None:
    broken = {1: InfrastructureFailure("killed", failure="out_of_memory")}
    with runs.open(runs.plan("one-shot", run_id="run-once-broken"), failures=broken) as context:
        result = execute(context)
    assert [one.stage for one in result.attempts] == [Stage.SCORED]

    always = {number: InfrastructureFailure("killed", failure="out_of_memory") for number in range(1, 20)}
    with runs.open(runs.plan("one-shot", run_id="run-always-broken"), failures=always) as context:
        result = execute(context)
        state = context.journal.state()
    assert {one.failure for one in state.attempts.values()} == {"out_of_memory"}
    assert result.selected_attempt is None
    assert "base-kept" in result.labels
    assert result.spent[Account.ATTEMPTS] == 0
    assert result.selected_official == result.base_official


def test_a_researcher_that_ends_early_is_started_again_then_the_run_closes_by_the_rule(runs: TinyRuns) -> None:
    planned = runs.plan("feedback", run_id="run-early")
    lab = runs.home.run("run-early").workspace / "lab"

    def lose_the_lab(_training: int, _step: int) -> None:
        lab.unlink(missing_ok=True)

    with runs.open(planned, before_step=lose_the_lab) as context:
        result = execute(context)
        exits = [e.event for e in context.journal.entries() if isinstance(e.event, ResearcherExited)]
    assert [(one.exit_code, one.stopped_by_controller) for one in exits] == [(1, False), (1, False)]
    assert result.selection_rule == "best-selection-score-earliest"
    assert (result.closed_because, result.selected_attempt) == ("researcher-ended", 1)
    log = (context.folder.logs / "researcher.log").read_text(encoding="utf-8")
    assert planned.lock.protocol.early_stop_message in log


def test_when_time_is_up_the_attempt_is_cancelled_and_the_best_one_counts(runs: TinyRuns) -> None:
    planned = runs.plan("feedback", run_id="run-late", wall_seconds=12, final_window_seconds=1)
    with runs.open(planned, hang_at=2) as context:
        result = execute(context)
        state = context.journal.state()
    assert [one.stage for one in result.attempts] == [Stage.SCORED, Stage.CANCELLED]
    assert (result.closed_because, result.selected_attempt) == ("final-window", 1)
    assert result.spent[Account.ATTEMPTS] == 1
    assert state.sealed


def test_a_second_controller_is_refused(runs: TinyRuns) -> None:
    planned = runs.plan("no-op", run_id="run-shared")
    with (
        runs.open(planned),
        pytest.raises(LabError, match="another process is working on it"),
        runs.open(planned),
    ):
        pass


def test_a_sealed_run_gives_its_result_again_without_work(runs: TinyRuns) -> None:
    planned = runs.plan("no-op", run_id="run-sealed")
    with runs.open(planned) as context:
        result = execute(context)
        events = context.journal.head()
    with runs.open(planned) as context:
        assert execute(context) == result
        assert context.journal.head() == events


def test_interrupted_in_training_and_resumed_loses_nothing(runs: TinyRuns) -> None:
    """Ctrl-C in the second training: the first attempt's score stays, the second is trained again and charged once."""
    undisturbed = run_once(runs, "feedback", "run-undisturbed")

    def interrupt(training: int, step: int) -> None:
        if (training, step) == (2, 2):
            raise KeyboardInterrupt

    planned = runs.plan("feedback", run_id="run-interrupted")
    with runs.open(planned, before_step=interrupt) as context, pytest.raises(KeyboardInterrupt):
        execute(context)
    with runs.open(planned) as context:
        state = context.journal.state()
        assert state.attempts[1].stage is Stage.SCORED
        result = execute(context)
        decisions = [one.decision for one in context.journal.state().submissions.values()]
    assert result.model_dump(exclude={"run_id"}) == undisturbed.model_dump(exclude={"run_id"})
    assert decisions.count(Decision.ADMITTED) == len(result.attempts)


def test_the_workspace_holds_nothing_of_the_official_split(runs: TinyRuns) -> None:
    with runs.open(runs.plan("one-shot", run_id="run-workspace")) as context:
        execute(context)
        official = context.planned.official
        hidden = {item.template for item in official} - {item.template for item in context.planned.selection}
    text = "".join(path.read_text(encoding="utf-8") for path in context.folder.workspace.rglob("*") if path.is_file())
    assert hidden
    for item in official:
        assert json.dumps(item.prompt)[1:-1] not in text
        assert item.prompt not in text
    for name in hidden:
        assert name not in text
