"""What a hostile researcher tries to read, reach and change from inside its sandbox: every attack gets nothing.

The same attacks without a sandbox are the control: they must work there, or a pass inside would mean nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import rsibench
from rsibench.ports.sandbox import SandboxProvider
from rsibench.testing import sandbox_attacks
from rsibench.testing.sandbox import ATTACKS, BRIDGE_PORT, EchoSocket, SandboxBench

ALL = tuple(sandbox_attacks.attacks())
HARMLESS_OUTSIDE = (
    "key_file",
    "journal",
    "blobs",
    "other_run",
    "own_run_folder",
    "held_out_package",
    "any_environment",
    "host_command_lines",
    "host_paths_in_command_lines",
    "host_loopback",
    "abstract_socket",
    "other_socket",
    "datagrams",
    "system_folder",
    "host_scratch",
    "through_descriptors",
    "trace_first",
    "user_namespace",
)
"""Attacks that work for any program outside a sandbox and change nothing."""


class Siege(NamedTuple):
    """What was planted, and what each attack got inside and outside."""

    given: Mapping[str, Any]
    inside: Mapping[str, str]
    outside: Mapping[str, str]
    log: str


@pytest.fixture(scope="module")
def siege(sandbox_provider: SandboxProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Siege]:
    """Plants everything, attacks once inside and once outside."""
    root = tmp_path_factory.mktemp("home")
    run, secret = root / "run-1", secrets.token_hex(16)
    with ExitStack() as stack:
        lab = stack.enter_context(EchoSocket(stack.enter_context(_Short()) / "lab.sock"))
        other = stack.enter_context(EchoSocket(lab.path.with_name("other.sock")))
        given = _planted(root, run, secret, other.path, stack)
        bench = SandboxBench(sandbox_provider, run).with_socket("lab", lab.path)
        os.environ["RSIBENCH_TEST_PLANTED_KEY"] = secret
        stack.callback(os.environ.pop, "RSIBENCH_TEST_PLANTED_KEY")
        said = bench.run(["python3", "-I", ATTACKS, json.dumps(given)])
        control = [sys.executable, "-I", sandbox_attacks.__file__, json.dumps(given), *HARMLESS_OUTSIDE]
        outside = subprocess.run(control, capture_output=True, check=True)
        log = bench.log.read_text("utf-8")
        assert said.output, log
        yield Siege(given, json.loads(said.output), json.loads(outside.stdout), log)


class _Short:
    """A folder with a short path, as sockets need."""

    def __enter__(self) -> Path:
        self._folder = tempfile.TemporaryDirectory(prefix="rsibench-")
        return Path(self._folder.name)

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def _planted(root: Path, run: Path, secret: str, other_socket: Path, stack: ExitStack) -> dict[str, Any]:
    for folder in (root / "blobs" / "aa", root / "run-2" / "workspace", run / "logs"):
        folder.mkdir(parents=True)
    (root / "runs.sqlite").write_bytes(b"SQLite format 3\0 planted")
    (root / "key").write_text(secret, encoding="ascii")
    scratch = stack.enter_context(_Short()) / "file"
    scratch.write_text("of the host", encoding="ascii")
    listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
    abstract_name = f"rsibench-{secret[:8]}"
    abstract.bind("\0" + abstract_name)
    abstract.listen(8)
    word = f"victim-{secret[8:16]}"
    victim = stack.enter_context(
        subprocess.Popen(
            ["/bin/sh", "-c", "read wait", word, str(run)],
            stdin=subprocess.PIPE,
            env={"RSIBENCH_TEST_PLANTED_KEY": secret},
        )
    )
    stack.callback(victim.kill)
    return {
        "key": str(root / "key"),
        "journal": str(root / "runs.sqlite"),
        "blobs": str(root / "blobs"),
        "other_run": str(root / "run-2"),
        "run": str(run),
        "package": str(Path(rsibench.__file__).parent),
        "secret": secret,
        "victim_word": word,
        "loopback_port": listener.getsockname()[1],
        "abstract": abstract_name,
        "other_socket": str(other_socket),
        "sockets": ["lab.sock"],
        "host_tmp": str(scratch),
    }


@pytest.mark.parametrize("attack", ALL)
def test_an_attack_gets_nothing(siege: Siege, attack: str) -> None:
    assert siege.inside[attack] == ""


@pytest.mark.parametrize("attack", HARMLESS_OUTSIDE)
def test_the_attack_works_without_a_sandbox(siege: Siege, attack: str) -> None:
    if attack == "user_namespace" and siege.outside[attack] == "":
        pytest.skip("this machine allows no user namespaces to anybody")
    if attack == "datagrams" and siege.outside[attack] == "":
        pytest.skip("this machine has no route to the outside")
    assert siege.outside[attack] != ""


def test_what_was_planted_is_nowhere_in_the_sandbox_or_its_log(siege: Siege) -> None:
    assert siege.given["secret"] not in json.dumps(siege.inside) + siege.log


def test_the_given_socket_works_by_its_path_and_by_its_port(sandbox_provider: SandboxProvider, tmp_path: Path) -> None:
    """Also with more than a buffer holds, in both directions, and with connections at the same time."""
    script = f"""
import socket, threading
data = bytes(range(256)) * 8000
def ask(client):
    with client:
        threading.Thread(target=lambda: (client.sendall(data), client.shutdown(socket.SHUT_WR))).start()
        got = b""
        while chunk := client.recv(65536):
            got += chunk
    assert got == data, len(got)
by_path = socket.socket(socket.AF_UNIX); by_path.connect("/run/bridge/lab.sock")
ask(by_path)
by_port = lambda: ask(socket.create_connection(("127.0.0.1", {BRIDGE_PORT})))
threads = [threading.Thread(target=by_port) for _ in range(8)]
[one.start() for one in threads]; [one.join() for one in threads]
print("all came back")
"""
    with _Short() as short, EchoSocket(short / "lab.sock") as lab:
        bench = SandboxBench(sandbox_provider, tmp_path / "run").with_socket("lab", lab.path)
        said = bench.run(["python3", "-I", "-c", script])
    assert (said.output, said.end.exit_code) == ("all came back\n", 0), bench.log.read_text("utf-8")
