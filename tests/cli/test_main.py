"""The command line as a user meets it: what it loads, what it says, and how it exits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rsibench.cli.main import main

HEAVY = ("torch", "transformers", "peft", "sqlalchemy", "alembic", "fastapi", "uvicorn", "scipy", "altair", "obstore")


def loaded_after(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after running `code`."""
    program = f"import sys\n{code}\nprint('\\n'.join(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def run(*arguments: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ) | ({"RSIBENCH_HOME": str(home)} if home else {})
    argv = [sys.executable, "-m", "rsibench", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)


def test_importing_the_package_loads_nothing_but_itself() -> None:
    assert loaded_after("import rsibench") - loaded_after("") == {"rsibench"}


def test_help_loads_no_heavy_library() -> None:
    code = "from rsibench.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    assert loaded_after(code).isdisjoint(HEAVY)


def test_help_names_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    for command in ("run", "resume", "status", "report", "verify", "gate", "profiles", "researchers", "doctor"):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("run", "pockett"), 2, "did you mean pocket"),
        (("run", "--researcher", "feedbak"), 2, "did you mean feedback"),
        (("run", "--seed", "-1"), 2, "is negative"),
        (("run", "--model", "nowhere/at/all"), 2, "neither a folder here nor a hub id"),
        (("status", "some-run"), 2, "there are no runs here"),
        (("verify", "../../etc"), 2, "cannot be the name of a run"),
        (("report", "some-run"), 2, "there are no runs here"),
        (("gate", "absent.jsonl"), 6, "absent.jsonl"),
        (("profiles", "show", "nothing"), 2, "there is no 'nothing'"),
    ],
)
def test_mistakes_are_explained_without_a_traceback(
    tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = run(*arguments, home=tmp_path)
    assert done.returncode == code
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_home_that_cannot_be_made_is_explained(student_folder: Path) -> None:
    assert student_folder.is_dir()
    done = run("run", "--quick", home=Path("/proc/nowhere"))
    assert done.returncode == 3
    assert "set RSIBENCH_HOME" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("no-such-command",), ("run", "--no-such-option"), ("verify",)])
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_traceback_is_printed_when_asked_for(tmp_path: Path) -> None:
    done = run("status", "some-run", "--traceback", home=tmp_path)
    assert "Traceback" in done.stderr


@pytest.mark.parametrize(
    "arguments", [("profiles", "list"), ("profiles", "show", "pocket"), ("researchers", "list"), ("doctor",)]
)
def test_json_is_json(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main([*arguments, "--json"])
    assert exited.value.code == 0
    assert json.loads(capsys.readouterr().out)
