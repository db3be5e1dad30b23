"""Several processes and sudden death: one does the work, the others use it, and nothing half made is ever used."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from rsibench.student import StudentStage, ensure_student

from .conftest import Placed, Watched

_PREPARE = """
import os, signal, sys
from pathlib import Path
from rsibench.spec.student import StudentSpec
from rsibench.student import ensure_student

spec, cache, die_at, hold_at = StudentSpec.model_validate_json(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]

def report(progress):
    global hold_at
    if progress.stage == die_at and progress.done:
        os.kill(os.getpid(), signal.SIGKILL)
    print(progress.stage, flush=True)
    if progress.stage == hold_at:
        hold_at = ""
        sys.stdin.readline()

print(ensure_student(spec, cache, report).digest.canonical().decode())
"""


def start(placed: Placed, die_at: str = "", hold_at: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _PREPARE, placed.spec.model_dump_json(), str(placed.cache), die_at, hold_at]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.chaos
@pytest.mark.parametrize("stage", [StudentStage.EXTRACTING, StudentStage.DEQUANTISING, StudentStage.VERIFYING])
def test_after_a_kill_the_next_process_starts_afresh(placed: Placed, watched: Watched, stage: StudentStage) -> None:
    victim = start(placed, die_at=stage)
    victim.communicate()
    assert victim.returncode == -signal.SIGKILL
    left = [path for path in (placed.cache / "students").iterdir() if path.is_dir()]
    assert [path.name.startswith(".partial-") for path in left] == [True]

    folder, _ = ensure_student(placed.spec, placed.cache, watched)
    assert watched.stages == [StudentStage.EXTRACTING, StudentStage.DEQUANTISING, StudentStage.VERIFYING]
    assert folder.is_dir()
    assert not left[0].exists()


@pytest.mark.chaos
def test_the_one_that_waits_says_so_and_uses_the_others_work(placed: Placed) -> None:
    first = start(placed, hold_at=StudentStage.EXTRACTING)
    assert first.stdout is not None
    assert first.stdout.readline().strip() == StudentStage.EXTRACTING
    second = start(placed, hold_at=StudentStage.WAITING)
    assert second.stdout is not None
    assert second.stdout.readline().strip() == StudentStage.WAITING
    first_said, _ = first.communicate("go on\n")
    second_said, _ = second.communicate("go on\n")
    assert (first.returncode, second.returncode) == (0, 0)
    *first_stages, first_digest = first_said.splitlines()
    *second_stages, second_digest = second_said.splitlines()
    assert StudentStage.DEQUANTISING in first_stages
    assert set(second_stages) == {StudentStage.VERIFYING}
    assert first_digest == second_digest


@pytest.mark.chaos
def test_a_waiting_process_takes_over_from_a_killed_one(placed: Placed) -> None:
    first = start(placed, hold_at=StudentStage.EXTRACTING)
    assert first.stdout is not None
    assert first.stdout.readline().strip() == StudentStage.EXTRACTING
    second = start(placed, hold_at=StudentStage.WAITING)
    assert second.stdout is not None
    assert second.stdout.readline().strip() == StudentStage.WAITING
    first.kill()
    first.communicate()
    second_said, _ = second.communicate("go on\n")
    assert second.returncode == 0
    assert StudentStage.DEQUANTISING in second_said.split()
