"""A researcher that uses too much, leaves something behind, or will not end: it is bounded, killed and named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rsibench.errors import SpecError
from rsibench.ports.sandbox import SandboxCause, SandboxProcess, SandboxProvider
from rsibench.sandbox.collect import read_regular
from rsibench.sandbox.warden.storage import FIXED_SIZE_FACT
from rsibench.testing.sandbox import SandboxBench

_SECONDS = 30.0


@pytest.fixture
def bench(sandbox_provider: SandboxProvider, tmp_path: Path) -> SandboxBench:
    return SandboxBench(sandbox_provider, tmp_path / "run")


def python(bench: SandboxBench, script: str) -> SandboxProcess:
    return bench.start(["python3", "-I", "-c", script])


def first_line(process: SandboxProcess) -> str:
    assert process.stdout is not None
    return process.stdout.readline().decode().strip()


def ended(process: SandboxProcess) -> SandboxCause:
    """After its output was closed and it was stopped."""
    process.stop()
    if process.stdout is not None:
        process.stdout.close()
    assert process.end is not None
    return process.end.cause


def inside_pids(marker: str) -> list[int]:
    """Processes of the host whose command line holds `marker`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if marker.encode() in words:
                found.append(int(entry.name))
    return found


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it holds within some seconds."""
    until = time.monotonic() + _SECONDS
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def test_a_fork_bomb_stays_within_the_process_limit(bench: SandboxBench) -> None:
    most = bench.spec.limits.processes
    script = f"""
import os, signal
children = []
try:
    while len(children) < {most * 4}:
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
except OSError as error:
    print(len(children), error.errno, flush=True)
"""
    said = bench.run(["python3", "-I", "-c", script])
    made, error = map(int, said.output.split())
    assert 0 < made < most
    assert error == 11
    assert subprocess.run(["/bin/true"], check=False).returncode == 0, "the host can still start programs"


def test_a_memory_hog_is_killed_and_named(bench: SandboxBench) -> None:
    script = "block = []\nwhile True:\n    block.append(bytearray(b'x' * (8 << 20)))\n"
    said = bench.run(["python3", "-I", "-c", script])
    assert said.end.cause is SandboxCause.OUT_OF_MEMORY
    assert said.end.exit_code == 128 + signal.SIGKILL


def test_scratch_folders_have_a_size(bench: SandboxBench) -> None:
    size = bench.spec.limits.scratch_bytes
    script = f"for d in /tmp /dev/shm; do head -c {size * 2} /dev/zero > $d/fill 2>/dev/null; wc -c < $d/fill; done"
    assert [int(one) for one in bench.shell(script).output.split()] == [size, size]


def test_a_full_workspace_is_only_that(bench: SandboxBench) -> None:
    """With a file system of fixed size the write fails and the program goes on; else it is killed and named."""
    size = bench.spec.limits.workspace_bytes
    hard = bench.provider.probe().facts["workspace limit"] == FIXED_SIZE_FACT
    said = bench.shell(
        f"head -c {size * 3} /dev/zero > fill 2>/dev/null; wc -c < fill; sleep {0 if hard else 30}; echo on"
    )
    if hard:
        written, still = said.output.split()
        assert int(written) < size
        assert still == "on"
        assert said.end.cause is SandboxCause.EXITED
    else:
        assert "on" not in said.output
        assert said.end.cause is SandboxCause.DISK_FULL


def test_a_workspace_that_stays_over_its_limit_never_comes_back_whole(bench: SandboxBench) -> None:
    size = bench.spec.limits.workspace_bytes
    said = bench.shell(f"truncate -s {size * 10} sparse; head -c 1000 /dev/zero > small")
    assert said.end.left_out == 1
    assert not (bench.spec.workspace / "sparse").exists()
    assert (bench.spec.workspace / "small").stat().st_size == 1000


def test_a_file_may_not_be_larger_than_its_limit(bench: SandboxBench) -> None:
    bench.with_limits(file_bytes=1 << 20)
    assert bench.shell("head -c 4000000 /dev/zero > big 2>/dev/null; wc -c < big").output.strip() == str(1 << 20)


def test_a_flood_of_output_is_cut_and_does_not_stop_the_program(bench: SandboxBench) -> None:
    bench.with_limits(output_bytes=100_000)
    log = bench.root / "logs" / "out.log"
    argv = ["/bin/sh", "-c", "head -c 5000000 /dev/zero; echo x >&2; exit 4"]
    process = bench.provider.start(bench.spec, argv, stdout=log, stderr=bench.log)
    assert process.wait(_SECONDS) == 4
    process.stop()
    assert 100_000 <= log.stat().st_size < 100_200
    assert bench.log.read_bytes() == b"x\n"


@pytest.mark.parametrize(
    "daemon",
    [
        "setsid sleep 654321 &",
        "(setsid setsid sleep 654321 &) &",
        "nohup sleep 654321 >/dev/null 2>&1 &",
        "python3 -c 'import os,signal\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
        'signal.signal(15, signal.SIG_IGN); os.execvp("sleep", ["sleep", "654321"])\' ',
    ],
)
def test_a_daemon_is_gone_after_the_program(bench: SandboxBench, daemon: str) -> None:
    process = bench.start(["/bin/sh", "-c", f"{daemon}\nuntil pgrep -x sleep >/dev/null; do :; done; echo up; read w"])
    assert first_line(process) in ("up", "")
    assert ended(process) in (SandboxCause.EXITED, SandboxCause.STOPPED)
    assert inside_pids("654321") == []


def test_a_program_that_kills_all_it_can_ends_only_itself(bench: SandboxBench) -> None:
    victim = subprocess.Popen(["/bin/sh", "-c", "read wait"], stdin=subprocess.PIPE)
    try:
        said = bench.run(
            [
                "python3",
                "-I",
                "-c",
                "import os\nfor n in (15, 9):\n    os.kill(-1, n)\nfor pid in range(1, 200000):\n"
                "    try: os.kill(pid, 9) if pid != os.getpid() else 0\n    except OSError: pass\n",
            ]
        )
        assert said.end.cause in (SandboxCause.EXITED, SandboxCause.LOST)
        assert victim.poll() is None
    finally:
        assert victim.stdin is not None
        victim.stdin.close()
        victim.wait()


def test_an_orderly_stop_reaches_the_program_and_its_exit_code_is_told(bench: SandboxBench) -> None:
    script = (
        "import os, signal, sys\n"
        "def end(number, frame): os.write(1, b'asked\\n'); sys.exit(7)\n"
        "signal.signal(signal.SIGINT, end)\nprint('up', flush=True)\nsignal.pause()\n"
    )
    process = python(bench, script)
    assert first_line(process) == "up"
    assert process.stop(signal.SIGINT, _SECONDS) == 7
    assert first_line(process) == "asked"
    assert ended(process) is SandboxCause.STOPPED


def test_a_signal_reaches_the_program_without_ending_the_sandbox(bench: SandboxBench) -> None:
    script = (
        "import os, signal, sys\nsignal.signal(signal.SIGUSR1, lambda n, f: os.write(1, b'heard\\n') and sys.exit(3))\n"
        "print('up', flush=True)\nwhile True: signal.pause()\n"
    )
    process = python(bench, script)
    assert first_line(process) == "up"
    process.interrupt(signal.SIGUSR1)
    assert first_line(process) == "heard"
    assert process.wait(_SECONDS) == 3
    assert ended(process) is SandboxCause.EXITED


def test_a_program_that_will_not_end_is_killed(bench: SandboxBench) -> None:
    """It ignores what it can, and has frozen the process that passes signals on."""
    script = (
        "import os, signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"
        "os.kill(os.getppid(), signal.SIGSTOP)\n"
        "print('up', flush=True)\nwhile True: signal.pause()\n"
    )
    process = python(bench, script)
    assert first_line(process) == "up"
    assert process.stop(signal.SIGTERM, 0.2) == 128 + signal.SIGKILL
    assert ended(process) is SandboxCause.STOPPED


def test_traps_in_the_workspace_do_not_catch_a_reader(bench: SandboxBench) -> None:
    """Links, FIFOs, hard links to what is read-only: neither given back nor followed."""
    (bench.root / "secret").write_text("secret", encoding="ascii")
    said = bench.shell(
        f"mkdir real; echo good > real/rows; ln -s {bench.root}/secret link; ln -s /etc folder; mkfifo pipe;"
        " ln -s real/rows inner; ln evidence/card.md hard 2>/dev/null; python3 -c 'import socket;"
        'socket.socket(1).bind("/workspace/sock")\'; ln -s /nowhere dangling; echo done'
    )
    assert said.output == "done\n", bench.log.read_text("utf-8")
    given = {path.name for path in bench.spec.workspace.iterdir()}
    assert given == {"real"}
    assert said.end.left_out == 6
    assert read_regular(bench.spec.workspace, "real/rows", 100) == b"good\n"


def test_a_link_put_where_the_host_writes_next_time_is_not_followed(bench: SandboxBench) -> None:
    """The host's new file replaces the link; nothing of the host behind it is written."""
    target = bench.root / "target"
    target.write_text("untouched", encoding="ascii")
    bench.shell(f"ln -s {target} TASK.md; rm -rf folder; ln -s {bench.root} folder")
    (bench.spec.workspace / "TASK.md").write_text("the task", encoding="ascii")
    (bench.spec.workspace / "folder").mkdir()
    (bench.spec.workspace / "folder" / "target").write_text("of the folder", encoding="ascii")
    assert bench.shell("cat TASK.md folder/target").output == "the taskof the folder"
    assert target.read_text("ascii") == "untouched"


def test_evidence_replaced_by_a_link_is_evidence_again(bench: SandboxBench) -> None:
    bench.shell("true")
    without = SandboxBench(bench.provider, bench.root / "second")
    without.spec = replace(bench.spec, read_only=())
    assert without.shell("rmdir evidence; ln -s /etc evidence; echo ok").output == "ok\n"
    assert bench.shell("cat evidence/card.md").output == "# the card\n"


def test_what_a_researcher_made_is_there_at_the_next_start(bench: SandboxBench) -> None:
    bench.shell("echo one > kept; ln -s kept link; echo session > /home/agent/state; rm -f gone")
    assert bench.shell("cat link /home/agent/state").output == "one\nsession\n"
    assert (bench.spec.workspace / "kept").read_text("ascii") == "one\n"
    bench.shell("rm kept")
    assert not (bench.spec.workspace / "kept").exists()
    bench.provider.discard(bench.spec)
    assert list(bench.spec.keep.iterdir()) == []


def test_a_program_that_does_not_exist_is_told(bench: SandboxBench) -> None:
    said = bench.run(["/no/such/program"])
    assert said.end.exit_code == 127
    assert "/no/such/program" in bench.log.read_text("utf-8")


_CONTROLLER = """
import sys, threading
from pathlib import Path
from rsibench.sandbox.choose import provider
from rsibench.testing.sandbox import SandboxBench

bench = SandboxBench(provider(sys.argv[1]), Path(sys.argv[2]))
script = (
    "echo work > made; setsid sleep 765432 & until pgrep -x sleep > /dev/null; do :; done; echo up; exec sleep 765432"
)
started = []
thread = threading.Thread(target=lambda: started.append(bench.start(["/bin/sh", "-c", script])))
thread.start()
thread.join()
print(started[0].stdout.readline().decode().strip(), started[0].pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.chaos
@pytest.mark.parametrize("killed", ["controller", "holder"])
def test_nothing_survives_a_kill(sandbox_provider: SandboxProvider, tmp_path: Path, killed: str) -> None:
    """Of the controller, or of the process that holds the sandbox. It was started from a thread that has ended."""
    argv = [sys.executable, "-c", _CONTROLLER, sandbox_provider.name, str(tmp_path / "run")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as controller:
        assert controller.stdout is not None
        word, pid = controller.stdout.readline().split()
        assert word == b"up"
        assert eventually(lambda: len(inside_pids("765432")) == 2), (
            "it runs though the thread that started it has ended"
        )
        os.kill(controller.pid if killed == "controller" else int(pid), signal.SIGKILL)
        holder = Path(f"/proc/{int(pid)}")
        assert eventually(lambda: inside_pids("765432") == [])
        assert eventually(lambda: not holder.exists() or "Z" in (holder / "stat").read_text("ascii").split()[2])
    sandbox_provider.reap()
    assert str(tmp_path) not in Path("/proc/mounts").read_text("utf-8")
    loops = [path.read_text("ascii") for path in Path("/sys/block").glob("loop*/loop/backing_file")]
    assert not any(str(tmp_path) in one for one in loops)
    bench = SandboxBench(sandbox_provider, tmp_path / "again")
    bench.spec = replace(bench.spec, keep=tmp_path / "run" / "kept")
    assert bench.shell("cat made").output == "work\n", "what it had made is not lost"


def test_a_reader_refuses_every_path_that_leaves_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="ascii")
    folder = tmp_path / "workspace"
    (folder / "inner").mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    for path in ("link", "up/secret", "../secret", str(tmp_path / "secret"), "pipe", "inner", "missing", "", "a\0b"):
        with pytest.raises(SpecError):
            read_regular(folder, path, 100)
