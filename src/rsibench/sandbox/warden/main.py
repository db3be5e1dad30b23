"""Holds one sandbox: `python -m rsibench.sandbox.warden.main STATUS_FD`, a child of the controller.

The first line of standard input is a WardenPlan. After the sandbox has said that it is ready the status descriptor
says so, then every line `signal N` or `stop N` goes to the program inside. When the program ends, or the input closes
(the controller is gone, however it died), all that is inside is killed, the folders are given back, and the process
ends with the program's exit code. When this process itself is killed its sandbox dies with it, and `reap` removes
what is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from rsibench.errors import EnvironmentFault
from rsibench.ports.sandbox import INSIDE_WORKSPACE, SandboxCause, SandboxEnd, inside_socket
from rsibench.sandbox.bubblewrap.box import BubblewrapBox
from rsibench.sandbox.docker.box import DockerBox
from rsibench.sandbox.warden.box import Box
from rsibench.sandbox.warden.plan import WardenPlan, end_line, loaded

_READY_SECONDS = 30.0
_WATCH_SECONDS = 0.25
_END_SECONDS = 10.0
_MOST_SAID_BYTES = 4096
_KILLED = 128 + signal.SIGKILL
_BOXES: dict[str, Callable[[WardenPlan], Box]] = {"bubblewrap": BubblewrapBox, "docker": DockerBox}


class _Lines:
    """Lines from a descriptor, as they come; `closed` after its end."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.closed = False
        self._pending = b""

    def read(self) -> list[str]:
        """What is complete after one read, which waits when nothing has come."""
        more = os.read(self.descriptor, 1 << 16)
        self.closed = not more
        *lines, self._pending = (self._pending + more).split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def first(self) -> str:
        """The first line, waiting for it; empty when there is none."""
        found: list[str] = []
        while not found and not self.closed:
            found = self.read()
        return found[0] if found else ""


class _Ended(NamedTuple):
    cause: SandboxCause
    exit_code: int


@dataclass
class _Watched:
    """What is known of the program while it runs."""

    stopping: bool = False
    exit_code: int | None = None
    """As the first program inside said; not to be trusted for more than a label."""
    over: str = ""


def main(status: int) -> int:
    """Holds the sandbox that standard input asks for."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: None)
    commands = _Lines(sys.stdin.fileno())
    line = commands.first()
    if not line:
        return 1
    plan = loaded(line)
    box = _BOXES[plan.provider](plan)
    process: subprocess.Popen[bytes] | None = None
    try:
        facts = dict(box.prepare())
        with _listener(box, plan) as listener:
            process = box.launch()
            control = _accepted(listener, process, commands)
        control.sendall(_orders(plan).encode() + b"\n")
        _tell(status, json.dumps({"ready": facts}))
        ended = _hold(box, process, control, commands)
    except Exception as error:
        box.kill()
        if process is not None:
            process.wait(_END_SECONDS)
        with contextlib.suppress(EnvironmentFault, OSError):
            box.finish(SandboxEnd(SandboxCause.LOST, _KILLED))
        fix = error.fix if isinstance(error, EnvironmentFault) else ""
        what = str(error) if isinstance(error, EnvironmentFault) else f"{type(error).__name__}: {error}"
        _tell(status, json.dumps({"failed": what, "fix": fix}))
        return 1
    end = box.finish(SandboxEnd(ended.cause, ended.exit_code))
    if end.cause is SandboxCause.LOST and end.memory_kills:
        end = SandboxEnd(SandboxCause.OUT_OF_MEMORY, *[getattr(end, name) for name in SandboxEnd.__slots__[1:]])
    _tell(status, end_line(end))
    return end.exit_code


def _listener(box: Box, plan: WardenPlan) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    box.control.unlink(missing_ok=True)
    listener.bind(str(box.control))
    box.control.chmod(0o600)
    if plan.uid is not None:
        os.chown(box.control, plan.uid, plan.uid)
    listener.listen(1)
    return listener


def _accepted(listener: socket.socket, process: subprocess.Popen[bytes], commands: _Lines) -> socket.socket:
    """The connection of the first program inside, which has said `ready`. Raises EnvironmentFault when none comes."""
    ended = os.pidfd_open(process.pid)
    try:
        sources = [listener.fileno(), ended, commands.descriptor]
        ready, _, _ = select.select(sources, [], [], _READY_SECONDS)
    finally:
        os.close(ended)
    if listener.fileno() not in ready:
        gone = "the controller is gone" if commands.descriptor in ready else "it did not start"
        raise EnvironmentFault(f"{gone}; its log says why", fix="see `rsibench doctor`")
    control, _ = listener.accept()
    control.settimeout(_READY_SECONDS)
    if control.recv(64) != b"ready\n":
        raise EnvironmentFault("the first program inside did not get ready", fix="see its log")
    return control


def _orders(plan: WardenPlan) -> str:
    return json.dumps(
        {
            "argv": plan.argv,
            "environment": dict(plan.spec.environment),
            "folder": INSIDE_WORKSPACE,
            "ports": {port: inside_socket(name) for port, name in plan.spec.ports.items()},
        }
    )


def _hold(box: Box, process: subprocess.Popen[bytes], control: socket.socket, commands: _Lines) -> _Ended:
    """Until everything inside has ended; how."""
    watched = _Watched()
    said = _Lines(control.fileno())
    ended = os.pidfd_open(process.pid)
    sources = {ended, said.descriptor, commands.descriptor}
    heard = 0
    while True:
        ready, _, _ = select.select(list(sources), [], [], _WATCH_SECONDS)
        if commands.descriptor in ready:
            for line in commands.read():
                _pass_on(line, control, watched)
            if commands.closed:
                watched.stopping = True
                box.kill()
                sources.discard(commands.descriptor)
        if said.descriptor in ready and heard < _MOST_SAID_BYTES:
            for line in said.read():
                heard += len(line) + 1
                word, _, code = line.partition(" ")
                if word == "exited" and code.isdigit():
                    watched.exit_code = min(int(code), 255)
        if said.closed or heard >= _MOST_SAID_BYTES:
            sources.discard(said.descriptor)
        if ended in ready:
            break
        if not watched.over and (over := box.over_limit()):
            watched.over = over
            box.kill()
    os.close(ended)
    box.kill()
    return _judge(process.wait(), watched)


def _pass_on(line: str, control: socket.socket, watched: _Watched) -> None:
    """`signal N` or `stop N` from the controller goes inside as N."""
    word, _, number = line.partition(" ")
    watched.stopping = watched.stopping or word == "stop"
    with contextlib.suppress(OSError):
        control.sendall(number.encode() + b"\n")


def _judge(code: int, watched: _Watched) -> _Ended:
    code = 128 - code if code < 0 else code
    if watched.over:
        return _Ended(SandboxCause.OUT_OF_MEMORY if watched.over == "memory" else SandboxCause.DISK_FULL, _KILLED)
    if watched.exit_code is not None:
        return _Ended(SandboxCause.STOPPED if watched.stopping else SandboxCause.EXITED, watched.exit_code)
    return _Ended(SandboxCause.STOPPED if watched.stopping else SandboxCause.LOST, code or _KILLED)


def _tell(status: int, line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(status, line.encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
