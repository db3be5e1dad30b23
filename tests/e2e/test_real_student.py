"""A whole run from the command line with the real student, small enough for a test: run, verify, report, status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rsibench.spec.catalogue import load_profile

pytestmark = pytest.mark.student


def rsibench(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ) | {"RSIBENCH_HOME": str(home)}
    argv = [sys.executable, "-m", "rsibench", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def small_profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped profile with two items a family and two thousand tokens of training."""
    profile = json.loads(load_profile("pocket").model_dump_json())
    profile["name"] = "pocket-small"
    profile["items"] |= {
        "families": profile["items"]["families"][:3],
        "selection": {"per_family": 2},
        "official": {"per_family": 3, "hidden_template_share": 0.334},
    }
    profile["recipe"]["max_train_tokens"] = 2000
    profile["budget"]["attempts"] = 1
    profile["quick"] = None
    path = tmp_path_factory.mktemp("profile") / "small.yaml"
    path.write_text(json.dumps(profile), encoding="utf-8")  # JSON is YAML
    return path


@pytest.mark.usefixtures("student_folder")
def test_run_verify_report_status(small_profile: Path, tmp_path: Path) -> None:
    ran = rsibench(tmp_path, "run", str(small_profile), "--researcher", "one-shot", "--run-id", "first", "--json")
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    (attempt,) = result["attempts"]
    assert attempt["stage"] == "scored"
    assert attempt["train_tokens"] <= 2000
    assert attempt["delta_norm"] > 0
    assert result["selected_official"]["total"] == result["base_official"]["total"] == 9

    again = rsibench(tmp_path, "run", str(small_profile), "--researcher", "one-shot", "--run-id", "second", "--json")
    repeated = json.loads(again.stdout)
    assert repeated["attempts"] == result["attempts"], "the same lock and seed gave another adapter or other scores"
    assert repeated["selected_official"] == result["selected_official"]

    verified = rsibench(tmp_path, "verify", "first")
    assert verified.returncode == 0, verified.stdout
    page = rsibench(tmp_path, "report", "first", "--out", str(tmp_path / "page.html"))
    assert page.returncode == 0
    assert attempt["adapter_sha256"][:12] in (tmp_path / "page.html").read_text(encoding="utf-8")
    status = json.loads(rsibench(tmp_path, "status", "first", "--json").stdout)
    assert status["phase"] == "sealed"

    weights = tmp_path / "first" / "attempts" / "001" / "adapter" / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    broken = rsibench(tmp_path, "verify", "first")
    assert broken.returncode == 4
    assert str(weights) in broken.stdout
