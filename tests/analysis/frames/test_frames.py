"""Frames say what the runs' results say, survive the disk, and do not depend on how runs were gathered."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from rsibench.analysis.frames.collect import collect, gathered
from rsibench.analysis.frames.folder import read_frames, write_frames
from rsibench.analysis.frames.schema import TABLES, Frames, frame
from rsibench.errors import IntegrityError, SpecError
from rsibench.run.execute import execute, prepare
from rsibench.run.result import RunResult
from rsibench.testing.runs import TinyRuns
from rsibench.units import MICRO_USD_PER_USD, Account


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[TinyRuns, dict[str, RunResult]]:
    """Two sealed runs and one that was only prepared."""
    runs = TinyRuns(tmp_path_factory.mktemp("frames"))
    results = {}
    for name, researcher in (("one-shot-0", "one-shot"), ("noop-0", "no-op")):
        with runs.open(runs.plan(researcher, run_id=name)) as context:
            results[name] = execute(context)
    with runs.open(runs.plan("no-op", run_id="begun")) as context:
        prepare(context)
    return runs, results


def test_the_runs_table_says_what_the_results_say(recorded: tuple[TinyRuns, dict[str, RunResult]]) -> None:
    runs, results = recorded
    table = gathered(collect(runs.home)).runs
    assert set(table["run_id"]) == {*results, "begun"}
    for name, result in results.items():
        row = table.row(by_predicate=pl.col("run_id") == name, named=True)
        assert row["official"] == result.selected_official.rate
        assert row["base_official"] == result.base_official.rate
        assert row["selected_attempt"] == result.selected_attempt
        assert row["labels"] == list(result.labels)
        spent = sum(units for account, units in result.spent.items() if account is not Account.ATTEMPTS)
        assert row["usd"] == pytest.approx(spent / MICRO_USD_PER_USD)
        assert row["difference"] == (result.official_difference.mean if result.official_difference else None)
    begun = table.row(by_predicate=pl.col("run_id") == "begun", named=True)
    assert (begun["sealed"], begun["official"], begun["attempts"]) == (False, None, 0)
    assert begun["base_selection"] is not None


def test_trials_add_up_to_the_scores(recorded: tuple[TinyRuns, dict[str, RunResult]]) -> None:
    runs, _ = recorded
    frames = gathered(collect(runs.home))
    sums = (
        frames.trials.filter(pl.col("split") == "selection", pl.col("attempt") > 0)
        .group_by("run_id", "attempt")
        .agg(pl.col("passed").sum().alias("hits"), pl.len().alias("lines"))
    )
    joined = frames.attempts.filter(pl.col("stage") == "scored").join(sums, on=["run_id", "attempt"])
    assert joined.height == frames.runs["scored_attempts"].sum() > 0
    assert joined["hits"].to_list() == joined["passed"].to_list()
    assert joined["lines"].to_list() == joined["total"].to_list()
    official = frames.trials.filter(pl.col("split") == "official", pl.col("attempt") == 0)
    assert official.group_by("run_id").len()["len"].to_list() == [27, 27]


def test_what_was_used_grows_from_attempt_to_attempt(recorded: tuple[TinyRuns, dict[str, RunResult]]) -> None:
    runs, _ = recorded
    for _, attempts in gathered(collect(runs.home)).attempts.group_by("run_id"):
        ordered = attempts.sort("attempt")
        for column in ("usd_known", "tokens_known", "seconds_known"):
            assert ordered[column].drop_nulls().is_sorted()
        assert ordered["selected"].sum() <= 1


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_how_many_runs_are_read_at_once_changes_nothing(
    recorded: tuple[TinyRuns, dict[str, RunResult]], at_once: int
) -> None:
    runs, _ = recorded
    for whole, parts in zip(gathered(collect(runs.home)), gathered(collect(runs.home, at_once=at_once)), strict=True):
        assert_frame_equal(whole, parts)


def test_tables_survive_the_disk(recorded: tuple[TinyRuns, dict[str, RunResult]], tmp_path: Path) -> None:
    runs, _ = recorded
    assert write_frames(collect(runs.home, at_once=2), tmp_path / "out") == 3
    read = Frames(*(table.collect() for table in read_frames(tmp_path / "out")))
    for before, after in zip(gathered(collect(runs.home)), read, strict=True):
        assert_frame_equal(before, after)
    with pytest.raises(SpecError, match="exists already"):
        write_frames(collect(runs.home), tmp_path / "out")


def test_no_runs_are_tables_without_rows(tmp_path: Path) -> None:
    write_frames([], tmp_path / "none")
    for table, schema in zip(read_frames(tmp_path / "none"), TABLES.values(), strict=True):
        assert table.collect_schema().names() == list(schema)
        assert table.collect().height == 0


def test_a_damaged_blob_is_named(tmp_path: Path) -> None:
    runs = TinyRuns(tmp_path)
    with runs.open(runs.plan("no-op", run_id="broken")) as context:
        execute(context)
        blob = context.blobs.path(context.journal.state().attempts[1].trials_blob or "")
    blob.chmod(0o644)
    blob.write_bytes(b"{}\n")
    with pytest.raises(IntegrityError, match="does not hash to its name"):
        gathered(collect(runs.home))


def test_a_run_that_is_not_there_is_refused_with_the_nearest_name(
    recorded: tuple[TinyRuns, dict[str, RunResult]],
) -> None:
    with pytest.raises(SpecError, match="did you mean noop-0"):
        gathered(collect(recorded[0].home, ["noop-1"]))


def test_an_undeclared_column_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="colour"):
        frame("costs", [{"run_id": "a", "colour": "blue"}])


def test_frames_of_another_version_are_refused(tmp_path: Path) -> None:
    write_frames([], tmp_path / "old")
    (tmp_path / "old" / "frames.json").write_text('{"version": 0}')
    with pytest.raises(SpecError, match="version 0"):
        read_frames(tmp_path / "old")
    with pytest.raises(SpecError, match="no frames"):
        read_frames(tmp_path)
