"""A campaign of real processes on a tiny student: killed, taken up again, and one cell that cannot succeed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rsibench.testing.runs import TinyRuns

pytest.importorskip("torch", reason="the local extra is not installed")

_DEADLINE_SECONDS = 120


def _write(folder: Path, profiles: str) -> Path:
    file = folder / "campaign.yaml"
    file.write_text(
        f"name: tc\ntitle: Tiny\nresearchers: [no-op, one-shot]\nprofiles: [{profiles}]\nseeds: [0]\n"
        'budgets: [{name: one, change: {attempts: 1}}]\nlimits: {usd: "2"}\nparallel: 2\n',
        encoding="utf-8",
    )
    return file


@pytest.fixture
def tiny(tmp_path: Path) -> TinyRuns:
    runs = TinyRuns(tmp_path / "tiny")
    runs.plan("no-op", run_id="made")  # writes the profile and the student
    return runs


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {"RSIBENCH_HOME": str(folder / "runs"), "RSIBENCH_CACHE": str(folder / "cache")}


def _campaign(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "rsibench", "campaign", *words]
    return subprocess.run(
        argv, env=_environment(folder), capture_output=True, text=True, check=False, timeout=_DEADLINE_SECONDS
    )


def _status(folder: Path, file: Path) -> dict[str, Any]:
    done = _campaign(folder, "status", str(file), "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.chaos
def test_a_killed_campaign_is_finished_by_the_next_one_with_every_cell_run_once(tmp_path: Path, tiny: TinyRuns) -> None:
    file = _write(tmp_path, f"{{profile: {tiny.root}/tiny.yaml, name: tiny, model: {tiny.root}/student}}")
    argv = [sys.executable, "-m", "rsibench", "campaign", "run", str(file)]
    process = subprocess.Popen(
        argv, env=_environment(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    until = time.monotonic() + _DEADLINE_SECONDS
    while not any(cell["stage"] != "not started" for cell in _status(tmp_path, file)["cells"]):
        assert process.poll() is None
        assert time.monotonic() < until
    process.kill()
    process.wait()
    done = _campaign(tmp_path, "run", str(file), "--json")
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)
    assert [cell["stage"] for cell in status["cells"]] == ["sealed", "sealed"]
    assert all(len(cell["result"]["attempts"]) == 1 for cell in status["cells"])


def test_what_cannot_run_here_is_refused_before_anything_starts(tmp_path: Path, tiny: TinyRuns) -> None:
    here = f"{{profile: {tiny.root}/tiny.yaml, name: tiny, model: {tiny.root}/student}}"
    outlined = "{profile: elsewhere, outline: {official_items: 5, base_rate: 0.5, source: a test}}"
    file = _write(tmp_path, f"{here}, {outlined}")
    refused = _campaign(tmp_path, "run", str(file))
    assert refused.returncode == 3
    assert "2 of 4 cells cannot run here" in refused.stderr
    assert not (tmp_path / "runs").exists()
    partly = _campaign(tmp_path, "run", str(file), "--where-possible", "--json")
    assert partly.returncode == 7
    stages = {cell["run_id"]: cell["stage"] for cell in json.loads(partly.stdout)["cells"]}
    assert stages == {
        "tc-no-op-tiny-s0": "sealed",
        "tc-one-shot-tiny-s0": "sealed",
        "tc-no-op-elsewhere-s0": "not started",
        "tc-one-shot-elsewhere-s0": "not started",
    }
