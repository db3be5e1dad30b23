"""Imported jobs: what Harbor counts as 0 and what did not happen are told apart, and nothing is ranked by accident."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rsibench.analysis.findings.findings import findings
from rsibench.errors import SpecError
from rsibench.exchange.harbor_job import ImportedJob, job_frames, read_harbor_job, read_rsigym_job
from rsibench.outcomes import TrialOutcome

P, F = TrialOutcome.PASS, TrialOutcome.FAIL
INFRA, INVALID, TIMEOUT = TrialOutcome.INFRA_ERROR, TrialOutcome.INVALID, TrialOutcome.AGENT_TIMEOUT


def _trial(folder: Path, name: str, **changes: Any) -> None:
    result: dict[str, Any] = {
        "task_name": name.split("__", maxsplit=1)[0],
        "trial_name": name,
        "task_checksum": "c" * 8,
        "source": "shell-tasks",
        "agent_info": {"name": "terminus-2", "version": "1", "model_info": {"name": "student"}},
        "agent_result": {"n_input_tokens": 100, "n_output_tokens": 20, "cost_usd": 0.01},
        "verifier_result": {"rewards": {"reward": 1}},
        "exception_info": None,
        "started_at": "2026-11-30T10:00:00+00:00",
    }
    (folder / name).mkdir(parents=True)
    (folder / name / "result.json").write_text(json.dumps(result | changes), encoding="utf-8")


def _rewards(value: object) -> dict[str, Any]:
    return {"verifier_result": {"rewards": {"reward": value}}}


CASES: list[tuple[str, dict[str, Any], TrialOutcome]] = [
    ("solved", _rewards(1), P),
    ("solved-as-float", _rewards(1.0), P),
    ("failed", _rewards(0), F),
    ("reward-two", _rewards(2), INVALID),
    ("reward-negative", _rewards(-1), INVALID),
    ("reward-half", _rewards(0.5), INVALID),
    ("reward-true", _rewards(True), INVALID),
    ("reward-text", _rewards("1"), INVALID),
    ("reward-missing", {"verifier_result": None}, INFRA),
    ("rewards-empty", {"verifier_result": {"rewards": {}}}, INFRA),
    ("several-rewards", {"verifier_result": {"rewards": {"reward": 1, "style": 1}}}, INFRA),
    ("model-never-asked", _rewards(0) | {"agent_result": {"n_input_tokens": 0, "n_output_tokens": 0}}, INFRA),
    (
        "timeout-without-a-token",
        _rewards(0)
        | {"agent_result": {"n_output_tokens": 0}, "exception_info": {"exception_type": "AgentTimeoutError"}},
        INFRA,
    ),
    ("timeout-after-work", _rewards(0) | {"exception_info": {"exception_type": "AgentTimeoutError"}}, TIMEOUT),
    ("timeout-but-solved", _rewards(1) | {"exception_info": {"exception_type": "AgentTimeoutError"}}, P),
    ("sandbox-broke", _rewards(0) | {"exception_info": {"exception_type": "RuntimeError"}}, INFRA),
    ("verifier-hung", {"verifier_result": None, "exception_info": {"exception_type": "VerifierTimeoutError"}}, INFRA),
]


@pytest.mark.parametrize(("name", "changes", "outcome"), CASES, ids=[case[0] for case in CASES])
def test_a_trial_gets_the_verdict_that_its_evidence_allows(
    tmp_path: Path, name: str, changes: dict[str, Any], outcome: TrialOutcome
) -> None:
    _trial(tmp_path / "job", f"{name}__abc", **changes)
    (trial,) = read_harbor_job(tmp_path / "job").trials
    assert trial.outcome is outcome


def test_a_job_becomes_one_run_whose_trials_add_up(tmp_path: Path) -> None:
    for name in ("a__1", "a__2", "b__1"):
        _trial(tmp_path / "job-one", name)
    _trial(tmp_path / "job-one", "b__2", **_rewards(0))
    _trial(tmp_path / "job-one", "c__1", verifier_result=None)
    frames = job_frames([read_harbor_job(tmp_path / "job-one")])
    run = frames.runs.row(0, named=True)
    assert (run["run_id"], run["researcher"], run["profile"]) == ("job-one", "terminus-2__student", "shell-tasks")
    assert run["official"] == pytest.approx(3 / 4)
    assert run["official_coverage"] == pytest.approx(4 / 5)
    assert run["usd"] == pytest.approx(0.05)
    assert frames.trials.filter(pl.col("item_id") == "a")["decode"].to_list() == [0, 1]
    (protocol,) = findings(frames, "imported").protocols
    (one,) = protocol.researchers
    assert one.official == pytest.approx(3 / 4)
    assert one.gain is None  # there is no base to compare with


def test_jobs_with_other_settings_are_other_protocols(tmp_path: Path) -> None:
    digests = []
    for name, config in (("one", {"n": 1}), ("two", {"n": 2}), ("again", {"n": 1, "job_name": "another"})):
        _trial(tmp_path / name, "a__1")
        (tmp_path / name / "config.json").write_text(json.dumps(config))
        digests.append(job_frames([read_harbor_job(tmp_path / name)]).runs["protocol_digest"][0])
    assert digests[0] == digests[2] != digests[1]


def test_an_rsigym_record_is_read_from_its_summary(tmp_path: Path) -> None:
    stats = {
        "n_trials": 4,
        "metrics": [{"mean": 0.4}],
        "reward_stats": {"reward": {"1.0": ["a__x", "a__y"], "0.0": ["b__x", "b__y"]}},
        "exception_stats": {"AgentTimeoutError": ["b__y"], "RuntimeError": ["c__x"]},
    }
    record = {
        "job_id": "J1",
        "status": "succeeded",
        "config": {"n_attempts": 2},
        "started_at": "2026-11-30T10:00:00+00:00",
        "result": {"stats": {"evals": {"minimal__terminal_bench_2_0": stats}}},
    }
    (tmp_path / "job.json").write_text(json.dumps(record))
    (job,) = list(read_rsigym_job(tmp_path / "job.json"))
    assert (job.agent, job.dataset) == ("minimal", "terminal_bench_2_0")
    outcomes = {one.trial: one.outcome for one in job.trials}
    assert outcomes == {"a__x": P, "a__y": P, "b__x": F, "b__y": TIMEOUT, "c__x": INFRA}
    assert job_frames([job]).runs["official"][0] == pytest.approx(2 / 4)  # not the summary's own mean


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "cannot be read"),
        ("[1]", "a JSON object"),
        ('{"status": "running"}', "its status is running"),
        ('{"result": {"stats": {"evals": {}}}}', "holds no evaluation"),
    ],
)
def test_a_record_that_is_none_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "job.json").write_text(text)
    with pytest.raises(SpecError, match=says):
        list(read_rsigym_job(tmp_path / "job.json"))


def test_a_folder_without_trials_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no finished Harbor trial"):
        read_harbor_job(tmp_path)


def test_no_jobs_are_empty_frames() -> None:
    jobs: list[ImportedJob] = []
    assert job_frames(jobs).runs.height == 0
