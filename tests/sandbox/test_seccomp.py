"""The filter of system calls, loaded by a process of its own: what it forbids fails, everyday things work."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from rsibench.sandbox.bubblewrap.seccomp import filter_program

_PROGRAM = """
import ctypes, os, socket, sys
program = bytes.fromhex(sys.argv[1])
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
room = ctypes.create_string_buffer(program)
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(len(program) // 8, ctypes.addressof(room)))) == 0
def opened(family, kind=socket.SOCK_STREAM):
    try:
        socket.socket(family, kind).close()
        return 0
    except OSError as error:
        return error.errno
def called(number):
    return 0 if libc.syscall(number, 0, 0, 0) >= 0 else ctypes.get_errno()
print([opened(f) for f in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)], opened(16, socket.SOCK_RAW))
print([opened(f) for f in (40, 38, 17, 29)])
print([called(n) for n in (425, 426, 428, 429, 430)])
print(os.fork() >= 0 and os.getpid() > 0)
"""


@pytest.mark.skipif(filter_program() is None, reason=f"no filter is made for {platform.machine()}")
def test_the_filter_in_force() -> None:
    program = filter_program()
    assert program is not None
    done = subprocess.run(
        [sys.executable, "-I", "-c", _PROGRAM, program.hex()], capture_output=True, check=True, text=True
    )
    usual, other, calls, alive = done.stdout.splitlines()[:4]
    assert usual.startswith("[0, 0, ")
    assert usual.endswith(" 0")
    assert set(other.strip("[]").split(", ")) == {"97"}, "vsock, alg, packet, can: address family not supported"
    assert calls == "[38, 38, 1, 1, 1]", "io_uring is absent, mounting by descriptor is forbidden"
    assert alive == "True"


def test_an_unknown_architecture_has_no_filter() -> None:
    assert filter_program("pdp11") is None


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_the_filter_lands_in_it(machine: str) -> None:
    program = filter_program(machine)
    assert program is not None
    steps = [program[at : at + 8] for at in range(0, len(program), 8)]
    for at, step in enumerate(steps):
        if step[0] in (0x15, 0x35):
            assert at + 1 + max(step[2], step[3]) < len(steps)
    assert steps[-1][0] == 0x06, "the last step returns"
