"""A seccomp filter: no address family that network namespaces do not separate, and fewer doors into the kernel.

Network namespaces leave vsock alone, so a program in a virtual machine could talk to the machine's host; socket() is
therefore limited to families that are safe. System calls that no agent needs and that were often the way out of a
sandbox fail as if forbidden; io_uring fails as if absent, because it opens sockets past this filter and programs do
without it. A program of another architecture than the machine's own is killed. Not a filter for untrusted machine
code at large.
"""

from __future__ import annotations

import errno
import platform
import socket
import struct
from typing import NamedTuple

_LOAD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_AT_LEAST = 0x35
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERRNO = 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X32_BIT = 0x40000000
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)  # 16 is netlink, which getaddrinfo asks
# io_uring_setup, _enter, _register; the numbers are the same on every architecture
_ABSENT = (425, 426, 427)
# open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr
_FORBIDDEN_EVERYWHERE = (428, 429, 430, 431, 432, 433, 442)


class _Machine(NamedTuple):
    architecture: int
    socket_number: int
    x32: bool
    forbidden: tuple[int, ...]


# Forbidden, in this order: mount umount2 pivot_root swapon reboot acct kexec_load kexec_file_load init_module
# finit_module delete_module bpf perf_event_open userfaultfd add_key request_key keyctl open_by_handle_at setns
_MACHINES = {
    "x86_64": _Machine(
        0xC000003E,
        41,
        True,
        (165, 166, 155, 167, 169, 163, 246, 320, 175, 313, 176, 321, 298, 323, 248, 249, 250, 304, 308),
    ),
    "aarch64": _Machine(
        0xC00000B7,
        198,
        False,
        (40, 39, 41, 224, 142, 89, 104, 294, 105, 273, 106, 280, 241, 282, 217, 218, 219, 265, 268),
    ),
}


def filter_program(machine: str | None = None) -> bytes | None:
    """The filter as the kernel takes it, for `machine` (as `platform.machine()`); None where none is known."""
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    code = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, known.architecture, yes=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    if known.x32:
        code += [_step(_JUMP_AT_LEAST, _X32_BIT, no=1), _step(_RETURN, _KILL)]
    for number in _ABSENT:
        code += [_step(_JUMP_EQUAL, number, no=1), _step(_RETURN, _ERRNO | errno.ENOSYS)]
    for number in (*known.forbidden, *_FORBIDDEN_EVERYWHERE):
        code += [_step(_JUMP_EQUAL, number, no=1), _step(_RETURN, _ERRNO | errno.EPERM)]
    code += [_step(_JUMP_EQUAL, known.socket_number, yes=1), _step(_RETURN, _ALLOW), _step(_LOAD, _FIRST_ARGUMENT)]
    for family in _FAMILIES:
        code += [_step(_JUMP_EQUAL, int(family), no=1), _step(_RETURN, _ALLOW)]
    code.append(_step(_RETURN, _ERRNO | errno.EAFNOSUPPORT))
    return b"".join(code)


def _step(operation: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """One instruction; `yes` and `no` are how many the next skip after a comparison."""
    return struct.pack("=HBBI", operation, yes, no, value)
