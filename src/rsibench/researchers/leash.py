"""Runs a program so that nothing it started outlives it or the controller. Standard library only, run as a script.

The controller holds the other end of standard input. When the program ends, or the input closes (the controller is
gone, however it died), everything that descends from here is killed, processes in sessions of their own too: this
process is their reaper. The program's signals come by its process group; this process itself ignores them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time

_PR_SET_CHILD_SUBREAPER = 36
_KILL_SECONDS = 5.0


def main(argv: list[str]) -> int:
    """Runs `argv`; returns its exit code, 128 + N when signal N ended it."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _ignore)
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    ended = os.pidfd_open(child.pid)
    select.select([sys.stdin.fileno(), ended], [], [])
    code = child.poll()
    _kill_descendants()
    code = child.wait() if code is None else code
    return 128 - code if code < 0 else code


def _ignore(_number: int, _frame: object) -> None:
    """A handler, not SIG_IGN: that one would be inherited by the program."""


def _kill_descendants() -> None:
    until = time.monotonic() + _KILL_SECONDS
    while (found := _children(os.getpid())) and time.monotonic() < until:
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.005)


def _children(root: int) -> list[int]:
    """Every living descendant."""
    found, waiting = list[int](), [root]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as handle:
            children = [int(one) for one in handle.read().split()]
            found += children
            waiting += children
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
