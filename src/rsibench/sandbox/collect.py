"""Reads files from a folder that a researcher writes, which may change at any moment and whose names may be traps.

Invariant: what is read is a regular file within the folder, reached without following any link, and at most as large as
was allowed. A FIFO or device never makes the reader wait. Not a copy of a folder: that is warden/copying.py.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path, PurePosixPath

from rsibench.errors import SpecError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK_BYTES = 1 << 20


def read_regular(folder: Path, path: str, max_bytes: int) -> bytes:
    """The content of the file `path`, relative to `folder`, of at most `max_bytes` bytes.

    Raises SpecError for an absolute path, for `..`, for a link on the way or at its end, for anything that is not a
    regular file, for a larger file, and for a file that is not there.
    """
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise SpecError("a path within the folder is needed, without `..`", where=repr(path))
    with contextlib.ExitStack() as stack:
        try:
            here = _kept(stack, os.open(folder, _FOLDER))
            for name in parts[:-1]:
                here = _kept(stack, os.open(name, _FOLDER, dir_fd=here))
            opened = _kept(stack, os.open(parts[-1], _FILE, dir_fd=here))
        except OSError as error:
            # ELOOP is a link, ENOTDIR a link or file on the way, ENXIO a socket or a FIFO
            raise SpecError(f"it cannot be read as a regular file: {error.strerror}", where=path) from error
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            raise SpecError("it is not a regular file", where=path)
        return _read(opened, path, max_bytes)


def _read(opened: int, path: str, max_bytes: int) -> bytes:
    """By what comes and not by the size that is told: the file may grow while it is read."""
    data = bytearray()
    while chunk := os.read(opened, min(_CHUNK_BYTES, max_bytes + 1 - len(data))):
        data += chunk
        if len(data) > max_bytes:
            raise SpecError(f"it has more than {max_bytes} bytes", where=path, fix="make it smaller")
    return bytes(data)


def _kept(stack: contextlib.ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor
