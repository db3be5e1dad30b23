"""From inside the sandbox: what a researcher must not be able to do, tried for real; skipped where none can be had."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault
from rsibench.ports.sandbox import SandboxCause, SandboxEnd, SandboxLimits, SandboxSpec
from rsibench.sandbox.bubblewrap.provider import BubblewrapProvider

SECRET = "planted-secret-4711"
LIMITS = SandboxLimits(
    memory_bytes=256 << 20, processes=48, workspace_bytes=16 << 20, scratch_bytes=4 << 20, output_bytes=1 << 20
)


@pytest.fixture(scope="module")
def provider() -> BubblewrapProvider:
    made = BubblewrapProvider()
    probe = made.probe()
    if not probe.available:
        pytest.skip(f"no sandbox here: {probe.why}")
    return made


def _spec(folder: Path, read_only: tuple[tuple[Path, str], ...] = ()) -> SandboxSpec:
    return SandboxSpec(
        workspace=folder / "workspace",
        home=folder / "home",
        keep=folder / "keep",
        read_only=read_only,
        environment={"PATH": "/usr/local/bin:/usr/bin:/bin"},
        limits=LIMITS,
    )


def _inside(
    provider: BubblewrapProvider, folder: Path, code: str, facts: Mapping[str, object] | None = None
) -> tuple[str, SandboxEnd]:
    """What a Python program inside printed, and how it ended; `facts` stand before the code as assignments."""
    before = "\n".join(f"{name} = {value!r}" for name, value in (facts or {}).items())
    process = provider.start(_spec(folder), ["python3", "-I", "-c", f"{before}\n{code}"], stderr=folder / "log")
    try:
        assert process.stdout is not None
        said = process.stdout.read(1 << 16).decode(errors="replace")
        process.wait(60)
    finally:
        process.stop()
        assert process.stdout is not None
        process.stdout.close()
    assert process.end is not None
    return said, process.end


FAILS: dict[str, str] = {
    "read a file of the host": "print(open(secret_file).read())",
    "list the folder of runs": "import os; print(os.listdir(os.path.dirname(secret_file)))",
    "read the password hashes": "print(open('/etc/shadow').read())",
    "read the first process's memory": "print(open('/proc/1/mem', 'rb').read(1))",
    "connect to the host's loopback": "import socket; socket.create_connection(('127.0.0.1', port), 2); print('in')",
    "ask for a name": "import socket; print(socket.getaddrinfo('example.com', 80))",
    "reach the cloud's metadata": "import socket; socket.create_connection(('169.254.169.254', 80), 2); print('in')",
    "open a raw socket": "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print('in')",
    "reach an abstract socket": "import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + abstract); print('in')",
    "signal a process of the host": "import os; os.kill(host_pid, 0); print('in')",
    "write to the system": "open('/usr/bin/planted', 'w').write('x'); print('in')",
    "write to the configuration": "open('/etc/planted', 'w').write('x'); print('in')",
    "mount something": "import ctypes; r = ctypes.CDLL(None).mount(b'none', b'/mnt', b'tmpfs', 0, None); assert r == 0",
    "become root": "import os; os.setuid(0); print('in')",
    "make a device": "import os, stat; os.mknod('/workspace/d', 0o666 | stat.S_IFBLK, os.makedev(8, 0)); print('in')",
    "make a user namespace": "import ctypes; r = ctypes.CDLL(None).unshare(0x10000000); assert r == 0; print('in')",
}


@pytest.mark.parametrize("name", FAILS)
def test_what_must_not_work_does_not(provider: BubblewrapProvider, tmp_path: Path, name: str) -> None:
    secret = tmp_path / "controller" / "key"
    secret.parent.mkdir()
    secret.write_text(SECRET)
    with socket.socket() as loopback, socket.socket(socket.AF_UNIX) as abstract:
        loopback.bind(("127.0.0.1", 0))
        loopback.listen(1)
        abstract.bind(f"\0rsibench-{os.getpid()}-{name}")
        abstract.listen(1)
        facts = {
            "secret_file": str(secret),
            "port": loopback.getsockname()[1],
            "abstract": f"rsibench-{os.getpid()}-{name}",
            "host_pid": os.getpid(),
        }
        said, end = _inside(provider, tmp_path / "box", FAILS[name], facts)
    assert end.exit_code != 0, said
    assert SECRET not in said
    assert "in\n" not in said


def test_nothing_of_the_controllers_environment_is_inside(
    provider: BubblewrapProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_API_KEY", SECRET)
    code = """
import glob
seen = b""
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        seen += open(path, "rb").read()
    except OSError:
        pass
print(seen)
"""
    said, end = _inside(provider, tmp_path, code)
    assert end.exit_code == 0
    assert SECRET not in said
    assert "PLANTED_API_KEY" not in said


def test_only_its_own_processes_are_visible(provider: BubblewrapProvider, tmp_path: Path) -> None:
    said, end = _inside(provider, tmp_path, "import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))")
    assert end.exit_code == 0
    assert int(said) <= 4


def test_a_full_disk_is_the_sandboxs_own(provider: BubblewrapProvider, tmp_path: Path) -> None:
    code = """
import errno
try:
    with open("/workspace/big", "wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
            file.flush()
except OSError as error:
    print(errno.errorcode[error.errno])
"""
    said, _ = _inside(provider, tmp_path, code)
    assert said.strip() in ("ENOSPC", "EDQUOT", "EFBIG")


def test_a_fork_bomb_runs_into_its_limit(provider: BubblewrapProvider, tmp_path: Path) -> None:
    code = """
import os
made = 0
try:
    for _ in range(2000):
        if os.fork() == 0:
            import time
            time.sleep(60)
            os._exit(0)
        made += 1
except OSError:
    pass
print(made)
"""
    said, _ = _inside(provider, tmp_path, code)
    assert int(said) < LIMITS.processes


def test_too_much_memory_is_killed_and_said_so(provider: BubblewrapProvider, tmp_path: Path) -> None:
    said, end = _inside(provider, tmp_path, "x = bytearray(600 << 20); x[::4096] = b'x' * len(x[::4096]); print('in')")
    assert end.exit_code != 0
    assert "in\n" not in said
    assert end.cause in (SandboxCause.OUT_OF_MEMORY, SandboxCause.EXITED)


def test_what_it_wrote_comes_back_without_links_and_pipes(provider: BubblewrapProvider, tmp_path: Path) -> None:
    code = """
import os
open("/workspace/rows.jsonl", "w").write("mine")
os.symlink("/etc/passwd", "/workspace/link")
os.mkfifo("/workspace/pipe")
"""
    _, end = _inside(provider, tmp_path, code)
    workspace = tmp_path / "workspace"
    assert (workspace / "rows.jsonl").read_text() == "mine"
    assert not (workspace / "link").exists()
    assert not (workspace / "pipe").exists()
    assert end.left_out >= 2


def test_a_daemon_does_not_outlive_the_sandbox(provider: BubblewrapProvider, tmp_path: Path) -> None:
    marker = f"rsibench-daemon-{os.getpid()}"
    code = f"""
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/usr/bin/python3", ["{marker}", "-c", "import time; time.sleep(600)"])
    os._exit(0)
import time
time.sleep(0.5)
"""
    _inside(provider, tmp_path, code)
    assert marker not in _command_lines()


def test_nothing_survives_the_kill_of_the_controller(provider: BubblewrapProvider, tmp_path: Path) -> None:
    marker = f"rsibench-survivor-{os.getpid()}"
    program = f"""
import sys
from pathlib import Path
from rsibench.ports.sandbox import SandboxSpec
from rsibench.sandbox.bubblewrap.provider import BubblewrapProvider
folder = Path(sys.argv[1])
path = {{"PATH": "/usr/bin:/bin"}}
spec = SandboxSpec(workspace=folder / "w", home=folder / "h", keep=folder / "k", environment=path)
code = "import time; print('up', flush=True); time.sleep(600)"
process = BubblewrapProvider().start(spec, ["python3", "-c", code, "{marker}"], stderr=folder / "log")
assert process.stdout is not None
print(process.stdout.readline().decode(), flush=True)
process.wait(600)
"""
    controller = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with controller:
        assert controller.stdout is not None
        assert controller.stdout.readline().strip() == "up"
        assert marker in _command_lines()
        controller.send_signal(signal.SIGKILL)
        controller.wait()
    for _ in range(100):
        if marker not in _command_lines():
            break
        signal.sigtimedwait([], 0.1)
    assert marker not in _command_lines()
    provider.reap()
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


def test_a_program_that_is_not_there_is_said(provider: BubblewrapProvider, tmp_path: Path) -> None:
    try:
        process = provider.start(_spec(tmp_path), ["/nowhere/at/all"], stderr=tmp_path / "log")
    except EnvironmentFault:
        return
    assert process.stop() != 0
    assert process.stdout is not None
    process.stdout.close()


def _command_lines() -> str:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return "\n".join(lines)
