"""An evaluation that was cut short: what is kept, what is dropped, and that nothing is sampled twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.outcomes import TrialOutcome
from rsibench.run.evaluate import evaluate
from rsibench.run.partial import PartialTrials, partial_key
from rsibench.spec.item import Trial
from rsibench.testing.runs import TinyRuns
from rsibench.testing.trials import sum_item, trial_of

TRIALS = [trial_of(sum_item(index), TrialOutcome.PASS) for index in range(3)]


def write(file: Path, trials: list[Trial]) -> None:
    with PartialTrials(file) as partial:
        for place, trial in enumerate(trials, start=1):
            partial.add(trial, float(place))


def test_trials_and_time_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "partial" / "one.jsonl"
    write(file, TRIALS)
    with PartialTrials(file) as partial:
        assert partial.kept == (tuple(TRIALS), 3.0)


def test_a_line_that_was_cut_off_is_dropped_and_written_over(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    write(file, TRIALS)
    file.write_bytes(file.read_bytes()[:-5])
    with PartialTrials(file) as partial:
        assert partial.kept == (tuple(TRIALS[:2]), 2.0)
        partial.add(TRIALS[2], 9.0)
    with PartialTrials(file) as partial:
        assert partial.kept == (tuple(TRIALS), 9.0)


def test_a_trial_that_infrastructure_broke_is_sampled_again(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    write(file, [trial_of(sum_item(1), TrialOutcome.INFRA_ERROR)])
    with PartialTrials(file) as partial:
        assert partial.kept.trials == ()


def test_an_interrupted_evaluation_continues_with_what_is_missing(runs: TinyRuns) -> None:
    class Cut(Exception):
        pass

    def cut(trials: list[Trial]) -> None:
        if len(trials) == 10:
            raise Cut

    seen: list[int] = []
    with runs.open(runs.plan("no-op", run_id="run-cut")) as context:
        items = context.planned.selection
        with pytest.raises(Cut):
            evaluate(context, items, None, cut)
        done = evaluate(context, items, None, lambda trials: seen.append(len(trials)))
    with runs.open(runs.plan("no-op", run_id="run-whole")) as context:
        whole = evaluate(context, context.planned.selection, None, lambda _: None)
    assert seen[0] == 11
    assert len(seen) == len(items) - 10
    assert done.trials_blob == whole.trials_blob


def test_other_items_or_weights_are_another_evaluation(runs: TinyRuns, tmp_path: Path) -> None:
    planned = runs.plan("no-op", run_id="run-keys")
    keys = {partial_key(planned.lock, items, None) for items in (planned.selection, planned.official)}
    for attempt, data in (("001", b"a"), ("001", b"b"), ("002", b"b")):
        adapter = tmp_path / attempt / "adapter"
        adapter.mkdir(parents=True, exist_ok=True)
        (adapter / "adapter_model.safetensors").write_bytes(data)
        keys.add(partial_key(planned.lock, planned.selection, adapter))
    assert len(keys) == 5
