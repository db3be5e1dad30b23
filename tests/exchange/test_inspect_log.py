"""Inspect logs hold the run's trials, say which of them do not count, and keep expected answers to themselves."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from rsibench.exchange.inspect_log import write_logs
from rsibench.outcomes import TRIAL_RULES
from rsibench.run.record import RunRecord
from rsibench.testing.records import MadeUp, made_up_record


@pytest.fixture(scope="module")
def record() -> RunRecord:
    return made_up_record(MadeUp(families=("sums", "dates"), broken_share=0.1))


def _read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
        names = [name for name in archive.namelist() if name.startswith("samples/")]
        return header, [json.loads(archive.read(name)) for name in names]


def test_every_evaluation_is_a_log_with_every_trial(record: RunRecord, tmp_path: Path) -> None:
    paths = write_logs(record, tmp_path)
    assert len(paths) == 2 + len(record.attempt_trials) + 1
    header, samples = _read(tmp_path / "official-attempt-4.eval")
    assert len(samples) == len(record.selected_official_trials)
    assert header["eval"]["task_args"]["protocol_digest"] == record.lock.protocol_digest
    by_id = {(one["id"], one["epoch"]): one for one in samples}
    for trial in record.selected_official_trials:
        sample = by_id[(trial.item_id.replace("/", "-"), trial.decode + 1)]
        assert sample["output"]["completion"] == trial.output
        counts = TRIAL_RULES[trial.verdict.outcome].counts
        assert bool(sample["scores"]) == counts
        assert ("error" in sample) != counts
    (score,) = header["results"]["scores"]
    assert score["unscored_samples"] == sum("error" in one for one in samples) > 0
    right = sum(one["scores"].get("verdict", {}).get("value") == "C" for one in samples)
    assert score["metrics"]["accuracy"]["value"] == pytest.approx(right / score["scored_samples"])


def test_expected_answers_are_there_only_when_asked_for(record: RunRecord, tmp_path: Path) -> None:
    write_logs(record, tmp_path / "without")
    write_logs(record, tmp_path / "with", answers=True)
    _, without = _read(tmp_path / "without" / "official-base.eval")
    _, with_answers = _read(tmp_path / "with" / "official-base.eval")
    assert {one["target"] for one in without} == {""}
    expected = {item.item_id.replace("/", "-"): json.dumps(item.expected) for item in record.official_items}
    assert all(one["target"] == expected[one["id"]] for one in with_answers)


def test_the_summaries_agree_with_the_samples(record: RunRecord, tmp_path: Path) -> None:
    write_logs(record, tmp_path)
    with zipfile.ZipFile(tmp_path / "selection-base.eval") as archive:
        summaries = json.loads(archive.read("summaries.json"))
        start = json.loads(archive.read("_journal/start.json"))
        header = json.loads(archive.read("header.json"))
    _, samples = _read(tmp_path / "selection-base.eval")
    assert [one["id"] for one in summaries] == [one["id"] for one in samples]
    assert start["eval"] == header["eval"]


def test_inspect_itself_reads_them(record: RunRecord, tmp_path: Path) -> None:
    inspect_log = pytest.importorskip(
        "inspect_ai.log", reason="Inspect cannot be installed beside the pinned libraries; see docs/exchange.md"
    )
    write_logs(record, tmp_path)
    log = inspect_log.read_eval_log(str(tmp_path / "official-base.eval"))
    assert len(log.samples) == len(record.base_official_trials)
