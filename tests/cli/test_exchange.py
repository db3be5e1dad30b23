"""Export, verify and import as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rsibench.cli.main import main
from rsibench.run.execute import execute
from rsibench.testing.runs import TinyRuns


def _call(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    code = ended.value.code
    assert isinstance(code, int)
    return code


def test_a_run_travels_as_a_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = TinyRuns(tmp_path / "first")
    with runs.open(runs.plan("no-op", run_id="traveller")) as context:
        execute(context)
    monkeypatch.setenv("RSIBENCH_HOME", str(runs.home.root))
    assert _call("export", "traveller", "--out", str(tmp_path / "out"), "--json") == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    monkeypatch.setenv("RSIBENCH_HOME", str(tmp_path / "second"))
    assert _call("verify", file, "--json") == 0
    assert json.loads(capsys.readouterr().out)["ok"]
    assert _call("import", file) == 0
    assert _call("verify", "traveller") == 0
    assert _call("import", file) == 2
    assert "already" in capsys.readouterr().err


def test_nothing_named_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _call("export", "--out", str(tmp_path)) == 2
    assert _call("import") == 2
    assert _call("import", "x", "--source", "harbor") == 2
    assert "what to do" in capsys.readouterr().err
