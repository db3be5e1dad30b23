"""The first program inside a sandbox: forwards loopback ports to sockets, then runs the researcher's program.

    init.py CONTROL_SOCKET

It connects to the control socket, says `ready`, and is told one JSON line: argv, environment, folder and ports. From
then on each line names a signal for the program. It ends with the program, or when the control connection closes;
what is left inside ends with it. It runs as the same user as the program, which can kill but not read or trace it: so
nothing that it says is trusted. Standard library only; runs on Python 3.9 and later.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from typing import Any, Callable, Optional  # noqa: UP035 - runs on an older Python than ours

_PR_SET_DUMPABLE = 4
_CHUNK_BYTES = 1 << 16
_MOST_LINE_BYTES = 4 << 20
_BACKLOG = 64
_NOT_STARTED = 127


class Flow:
    """One direction of a forwarded connection: reads from `source` only while what it read before was written."""

    def __init__(self, source: socket.socket, target: socket.socket) -> None:
        self.source, self.target = source, target
        self.waiting = b""
        self.ended = False
        """The source has said all and the target was told."""

    def move(self) -> None:
        """Moves what can be moved without waiting. Raises OSError when either end is broken."""
        if not self.waiting and not self.ended:
            try:
                self.waiting = self.source.recv(_CHUNK_BYTES)
            except BlockingIOError:
                return
            if not self.waiting:
                self.ended = True
                with contextlib.suppress(OSError):
                    self.target.shutdown(socket.SHUT_WR)
        if self.waiting:
            with contextlib.suppress(BlockingIOError):
                self.waiting = self.waiting[self.target.send(self.waiting) :]


class Bridge:
    """Forwards connections, all in one thread: a program that uses up its processes does not stop it."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector

    def listen(self, port: int, path: str) -> None:
        """Connections to 127.0.0.1:`port` go to the Unix socket `path`."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ, lambda _mask: self._accept(listener, path))

    def _accept(self, listener: socket.socket, path: str) -> None:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(path)
        except OSError:
            client.close()
            server.close()
            return
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.setblocking(False)
        server.setblocking(False)
        flows = (Flow(client, server), Flow(server, client))
        for end in (client, server):
            self._selector.register(end, selectors.EVENT_READ, lambda _mask: self._move(flows))

    def _move(self, flows: tuple[Flow, Flow]) -> None:
        try:
            for flow in flows:
                flow.move()
            finished = all(flow.ended and not flow.waiting for flow in flows)
        except OSError:
            finished = True
        for inward, outward in (flows, flows[::-1]):
            # `inward` reads from this end, `outward` writes to it
            end = inward.source
            reads = selectors.EVENT_READ if not inward.waiting and not inward.ended else 0
            writes = selectors.EVENT_WRITE if outward.waiting else 0
            self._watch(end, 0 if finished else reads | writes, flows)
            if finished:
                end.close()

    def _watch(self, end: socket.socket, mask: int, flows: tuple[Flow, Flow]) -> None:
        known = end.fileno() in self._selector.get_map()
        if mask and known:
            self._selector.modify(end, mask, lambda _mask: self._move(flows))
        elif mask:
            self._selector.register(end, mask, lambda _mask: self._move(flows))
        elif known:
            self._selector.unregister(end)


class Control:
    """Lines from the process that holds the sandbox."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._pending = b""

    def say(self, line: str) -> None:
        self._socket.sendall(line.encode() + b"\n")

    def line(self) -> Optional[str]:  # noqa: UP045 - runs on an older Python than ours
        """The next line, waiting for it; None when the connection has closed."""
        while b"\n" not in self._pending:
            more = self._socket.recv(_CHUNK_BYTES)
            if not more or len(self._pending) > _MOST_LINE_BYTES:
                return None
            self._pending += more
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode()

    def fileno(self) -> int:
        return self._socket.fileno()

    def has_line(self) -> bool:
        return b"\n" in self._pending


def main(path: str) -> int:
    """Runs the program that the control socket names; returns its exit code, 128 + N when signal N ended it."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    control = Control(path)
    control.say("ready")
    line = control.line()
    if line is None:
        return _NOT_STARTED
    plan = json.loads(line)
    selector = selectors.DefaultSelector()
    bridge = Bridge(selector)
    for port, target in plan["ports"].items():
        bridge.listen(int(port), target)
    os.chdir(plan["folder"])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _ignore)
    child = _start(plan)
    code = _NOT_STARTED if child is None else _serve(selector, control, child)
    with contextlib.suppress(OSError):
        control.say(f"exited {code}")
    return code


def _start(plan: dict[str, Any]) -> Optional[subprocess.Popen[bytes]]:  # noqa: UP045 - runs on an older Python
    try:
        return subprocess.Popen(plan["argv"], env=plan["environment"], stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        print(f"{plan['argv'][0]}: {error.strerror}", file=sys.stderr, flush=True)
        return None


def _serve(selector: selectors.BaseSelector, control: Control, child: subprocess.Popen[bytes]) -> int:
    ended = os.pidfd_open(child.pid)
    selector.register(ended, selectors.EVENT_READ, None)
    selector.register(control, selectors.EVENT_READ, None)
    while True:
        for key, mask in selector.select():
            if key.fd == ended:
                code = child.wait()
                return 128 - code if code < 0 else code
            if key.fileobj is control:
                if not _signals(control, child):
                    return 128 + signal.SIGKILL
            elif key.fd in selector.get_map():
                act: Callable[[int], None] = key.data
                act(mask)


def _signals(control: Control, child: subprocess.Popen[bytes]) -> bool:
    """Passes on every signal that has come; false when the connection has closed."""
    while True:
        line = control.line()
        if line is None:
            return False
        with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
            os.killpg(child.pid, int(line))
        if not control.has_line():
            return True


def _ignore(_number: int, _frame: object) -> None:
    """A handler, not SIG_IGN: that one would be inherited by the program."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
