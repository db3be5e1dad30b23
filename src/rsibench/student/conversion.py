"""Runs the dequantiser in a process of its own and turns how it ended into an error that says what to do.

It starts `python -m rsibench.student.dequantise` and relays its progress; it never imports what that process needs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rsibench.errors import EnvironmentFault, InfrastructureFailure, RsibenchError, SpecError
from rsibench.student.progress import Reporter, StudentProgress, StudentStage

_TAIL_LINES = 12


def convert(gguf_file: Path, folder: Path, scratch: Path, report: Reporter) -> None:
    """Fills `folder` from a GGUF file. Raises EnvironmentFault or SpecError with the process's reason.

    A crash or a kill is an InfrastructureFailure of class `dequantiser_crashed` or `dequantiser_killed`.
    """
    errors = scratch / "dequantise.log"
    command = [sys.executable, "-P", "-m", "rsibench.student.dequantise", str(gguf_file), str(folder)]
    report(StudentProgress(StudentStage.DEQUANTISING, 0, None, "tensors"))
    with (
        errors.open("wb") as stderr,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                done, total = (int(part) for part in line.split())
                report(StudentProgress(StudentStage.DEQUANTISING, done, total, "tensors"))
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise _failure(process.returncode, errors.read_text(encoding="utf-8", errors="replace").strip())


def _failure(code: int, said: str) -> RsibenchError:
    for kind in (SpecError, EnvironmentFault):
        if code == kind.exit_code:
            return kind(said, where="student")
    if code < 0:
        return InfrastructureFailure(
            f"the process that dequantises the student was killed by signal {-code}",
            failure="dequantiser_killed",
            where="student",
            fix="it needs about 1 GB of free memory; free some and start again",
        )
    tail = "\n".join(said.splitlines()[-_TAIL_LINES:])
    return InfrastructureFailure(
        f"the process that dequantises the student ended with code {code}:\n{tail}",
        failure="dequantiser_crashed",
        where="student",
        fix="`rsibench doctor` checks the libraries it needs",
    )
