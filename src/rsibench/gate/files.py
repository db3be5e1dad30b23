"""The three files of a submission, and reading them without trusting them.

Invariant: never more than one line of a file is in memory, however long the file or the line is; a path is opened only
when it names a regular file. A submission's bytes are read as they are, nothing is repaired.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rsibench.gate.codes import Code
from rsibench.gate.problems import ROWS_FILE, Problems
from rsibench.spec.profile import DataPolicy

_SKIP_BYTES = 1 << 20
_OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class SubmissionFiles(NamedTuple):
    """What a researcher hands in. Rows are bytes or the path of a file; None is a file that was not handed in."""

    rows: bytes | Path
    config: bytes | None
    hypothesis: bytes | None


class Line(NamedTuple):
    """One line without its line feed; `number` is 1-based."""

    number: int
    data: bytes


def read_lines(rows: bytes | Path, policy: DataPolicy, problems: Problems) -> Iterator[Line]:
    """The lines of a rows file that are worth parsing; what is wrong with the file or a line goes to `problems`."""
    if isinstance(rows, bytes):
        size, stream = len(rows), io.BytesIO(rows)
        yield from _checked_lines(stream, size, policy, problems)
        return
    opened = _open_regular(rows, problems)
    if opened is not None:
        with opened as file:
            yield from _checked_lines(file, os.fstat(file.fileno()).st_size, policy, problems)


def _open_regular(path: Path, problems: Problems) -> BinaryIO | None:
    """The opened file, or None with a problem; neither follows a symlink nor waits for a FIFO's writer."""
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except OSError as error:
        code, why = _why_not_opened(error)
        problems.add(code, why, "hand in a regular, readable file", field=str(path))
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        problems.add(
            Code.FILE_NOT_REGULAR,
            "the path is not a regular file (a FIFO, folder, socket or device)",
            "hand in a regular file",
            field=str(path),
        )
        return None
    return os.fdopen(descriptor, "rb")


def _why_not_opened(error: OSError) -> tuple[Code, str]:
    if error.errno == errno.ELOOP:
        return Code.FILE_NOT_REGULAR, "the path is a symbolic link"
    if error.errno == errno.ENXIO:
        return Code.FILE_NOT_REGULAR, "the path is a socket or a device"
    if error.errno == errno.ENOENT:
        return Code.FILE_MISSING, "there is no such file"
    return Code.FILE_UNREADABLE, f"the file cannot be opened: {error.strerror}"


def _checked_lines(stream: BinaryIO, size: int, policy: DataPolicy, problems: Problems) -> Iterator[Line]:
    if size > policy.max_file_bytes:
        problems.add(
            Code.FILE_TOO_LARGE,
            f"the file has {size} bytes; at most {policy.max_file_bytes} are taken",
            "hand in fewer or shorter rows",
        )
        return
    number = 0
    left_bytes = policy.max_file_bytes
    while data := stream.readline(policy.max_line_bytes + 1):
        number += 1
        left_bytes -= len(data)
        if number > policy.max_rows or left_bytes < 0:
            _too_much(number, policy, problems)
            return
        if not data.endswith(b"\n") and len(data) > policy.max_line_bytes:
            left_bytes -= _skip_line(stream, left_bytes)
            problems.add(
                Code.LINE_TOO_LONG,
                f"the line has more than {policy.max_line_bytes} bytes",
                "split the row or shorten its messages",
                row=number,
            )
            continue
        yield Line(number, data.removesuffix(b"\n"))
    if number == 0:
        problems.add(Code.FILE_EMPTY, "the file is empty", f"write one JSON object a line to {ROWS_FILE}")


def _too_much(number: int, policy: DataPolicy, problems: Problems) -> None:
    if number > policy.max_rows:
        problems.add(
            Code.TOO_MANY_ROWS,
            f"there are more than {policy.max_rows} rows; those after it were not read",
            "hand in fewer rows",
            row=number,
        )
    else:
        problems.add(Code.FILE_TOO_LARGE, "the file grew while it was read", "hand in a file that is finished")


def _skip_line(stream: BinaryIO, limit_bytes: int) -> int:
    """Reads on to the next line feed, or a little beyond `limit_bytes`, keeping nothing. Returns the bytes read."""
    skipped = 0
    while skipped <= limit_bytes:
        piece = stream.readline(_SKIP_BYTES)
        skipped += len(piece)
        if not piece or piece.endswith(b"\n"):
            break
    return skipped
