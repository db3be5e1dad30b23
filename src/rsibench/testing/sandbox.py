"""A sandbox for tests: folders as a run has them, an echoing socket, and short ways to run something inside."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rsibench.ports.sandbox import (
    INSIDE_HOME,
    INSIDE_PATH,
    SandboxEnd,
    SandboxLimits,
    SandboxProcess,
    SandboxProvider,
    SandboxSpec,
)

ATTACKS = "/opt/tests/sandbox_attacks.py"
BRIDGE_PORT = 8701
SMALL = SandboxLimits(memory_bytes=256 << 20, processes=64, workspace_bytes=32 << 20, scratch_bytes=8 << 20)
_WAIT_SECONDS = 60.0


class Said(NamedTuple):
    """What a program inside printed, and how its sandbox ended."""

    output: str
    end: SandboxEnd


class SandboxBench:
    """One run's folders under `root`, and sandboxes of `provider` for it."""

    def __init__(self, provider: SandboxProvider, root: Path) -> None:
        self.provider = provider
        self.root = root
        self.log = root / "logs" / "researcher.log"
        self.evidence = root / "evidence"
        self.evidence.mkdir(parents=True)
        (self.evidence / "card.md").write_text("# the card\n", encoding="utf-8")
        self.spec = SandboxSpec(
            workspace=root / "workspace",
            home=root / "agent-home",
            keep=root / "kept",
            read_only=(
                (self.evidence, "/workspace/evidence"),
                (Path(__file__).with_name("sandbox_attacks.py"), ATTACKS),
            ),
            environment={"PATH": INSIDE_PATH, "HOME": INSIDE_HOME, "LANG": "C.UTF-8"},
            limits=SMALL,
        )

    def with_socket(self, name: str, path: Path) -> SandboxBench:
        """From now on with one more socket, and a port that leads to it."""
        sockets: Mapping[str, Path] = {**self.spec.sockets, name: path}
        self.spec = replace(self.spec, sockets=sockets, ports={BRIDGE_PORT: name})
        return self

    def with_limits(self, **changed: int | float) -> SandboxBench:
        """From now on with other limits."""
        self.spec = replace(self.spec, limits=replace(self.spec.limits, **changed))  # type: ignore[arg-type]
        return self

    def start(self, argv: Sequence[str]) -> SandboxProcess:
        """A sandbox whose output is a pipe."""
        return self.provider.start(self.spec, argv, stderr=self.log)

    def shell(self, script: str) -> Said:
        """Runs a script to its end."""
        return self.run(["/bin/sh", "-c", script])

    def run(self, argv: Sequence[str]) -> Said:
        """Runs a program to its end."""
        process = self.start(argv)
        output = process.stdout
        try:
            text = output.read() if output is not None else b""
            process.wait(_WAIT_SECONDS)
        finally:
            process.stop()
            if output is not None:
                output.close()
        if process.end is None:
            raise AssertionError("a stopped sandbox does not say how it ended")
        return Said(text.decode("utf-8", "replace"), process.end)


class EchoSocket:
    """A Unix socket whose server sends back everything, once the client has said all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(16)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> EchoSocket:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=_echo, args=(client,), daemon=True).start()


def _echo(client: socket.socket) -> None:
    with client, contextlib.suppress(OSError):  # clients may leave early
        said = bytearray()
        while chunk := client.recv(1 << 16):
            said += chunk
        client.sendall(said)


class SocketTo:
    """A Unix socket that leads to a loopback port of the host: a scripted model endpoint for a sandbox."""

    def __init__(self, path: Path, port: int) -> None:
        self.path = path
        self._port = port
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(64)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> SocketTo:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._port))
            threading.Thread(target=_both_ways, args=(client, server), daemon=True).start()


def _both_ways(client: socket.socket, server: socket.socket) -> None:
    with client, server:
        back = threading.Thread(target=_forward, args=(server, client), daemon=True)
        back.start()
        _forward(client, server)
        back.join()


def _forward(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(1 << 16):
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
