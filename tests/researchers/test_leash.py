"""Nothing that a researcher started outlives it or the controller, processes in sessions of their own too."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

LEASH = str(resources.files("rsibench") / "researchers" / "leash.py")
DAEMON = "setsid sleep 600 & echo $!; "
_SECONDS = 10.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses Linux's process descriptors")


def start(script: str, *, stdin: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-I", "-S", LEASH, "/bin/sh", "-c", script]
    return subprocess.Popen(argv, stdin=stdin, stdout=subprocess.PIPE, start_new_session=True)


def gone(descriptor: int) -> bool:
    """Whether the process ends within some seconds."""
    try:
        return bool(select.select([descriptor], [], [], _SECONDS)[0])
    finally:
        os.close(descriptor)


def test_a_daemon_dies_with_the_program_and_its_exit_code_is_told() -> None:
    with start(DAEMON + "read wait < fifo 2>/dev/null; exit 7") as process:
        assert process.stdout is not None
        daemon = int(process.stdout.readline())
        assert process.wait(_SECONDS) == 7
        assert not Path(f"/proc/{daemon}").exists()


def test_all_dies_when_the_controller_is_gone(tmp_path: Path) -> None:
    """The controller is a process that starts a leash and is killed with -9."""
    script = DAEMON + "exec sleep 600"
    controller = (
        "import subprocess, sys\n"
        f"p = subprocess.Popen([sys.executable, '-I', '-S', {LEASH!r}, '/bin/sh', '-c', {script!r}],"
        " stdin=subprocess.PIPE, start_new_session=True)\n"
        "print(p.pid, flush=True)\n"
        "p.wait()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", controller], stdout=subprocess.PIPE, cwd=tmp_path)
    assert process.stdout is not None
    first, second = int(process.stdout.readline()), int(process.stdout.readline())
    descriptors = [os.pidfd_open(first), os.pidfd_open(second)]
    process.kill()
    process.wait()
    process.stdout.close()
    assert all(gone(one) for one in descriptors)


def test_a_signal_that_ends_the_program_is_told() -> None:
    with start("kill -KILL $$") as process:
        assert process.wait(_SECONDS) == 128 + 9
