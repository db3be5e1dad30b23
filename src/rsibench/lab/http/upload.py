"""A submission as one request body: the three files one after the other, cut at the lengths that the query declares.

Invariant: limits are checked on the declared lengths before a byte is read, and on the bytes as they come; the rows go
to a temporary file, never whole into memory; an upload that is too long, too short or too slow is refused.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from rsibench.errors import LabError, Problem, SubmissionRefused
from rsibench.gate.codes import Code
from rsibench.gate.config import MAX_CONFIG_BYTES
from rsibench.gate.files import SubmissionFiles
from rsibench.gate.problems import CONFIG_FILE, HYPOTHESIS_FILE, ROWS_FILE
from rsibench.spec.profile import DataPolicy

UPLOAD_SECONDS = 120.0
_SMALLER = "make it smaller; it was not read"


class Lengths(NamedTuple):
    """Declared bytes of each file; None is a file that is not handed in."""

    rows: int
    config: int | None
    hypothesis: int | None

    @property
    def total(self) -> int:
        """Bytes of the whole body."""
        return self.rows + (self.config or 0) + (self.hypothesis or 0)


@asynccontextmanager
async def received(
    stream: AsyncIterator[bytes], lengths: Lengths, policy: DataPolicy, folder: Path | None
) -> AsyncIterator[SubmissionFiles]:
    """The files of an upload; the rows file is removed at the end.

    Raises LabError for a body that does not fit its declaration, SubmissionRefused when that is beyond a limit.
    """
    _require_within_limits(lengths, policy)
    with tempfile.NamedTemporaryFile(prefix="rsibench-upload-", dir=folder) as rows:
        small = bytearray()
        seen = 0
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                async for piece in stream:
                    in_rows = max(0, min(len(piece), lengths.rows - seen))
                    rows.write(piece[:in_rows])
                    small += piece[in_rows:]
                    seen += len(piece)
                    _require(seen <= lengths.total, "longer", lengths)
        except TimeoutError:
            why = f"the upload took longer than {UPLOAD_SECONDS:g} s"
            raise LabError(why, code="too-slow", status=408, fix="submit again; nothing was spent") from None
        _require(seen == lengths.total, "shorter", lengths)
        rows.flush()
        config_bytes = lengths.config or 0
        yield SubmissionFiles(
            rows=Path(rows.name),
            config=None if lengths.config is None else bytes(small[:config_bytes]),
            hypothesis=None if lengths.hypothesis is None else bytes(small[config_bytes:]),
        )


def _require(condition: bool, how: str, lengths: Lengths) -> None:
    if not condition:
        raise LabError(
            f"the body is {how} than the {lengths.total} bytes that the query declares",
            code="body-length",
            status=400,
            fix="send rows, config and hypothesis one after the other, and their exact lengths",
        )


def _require_within_limits(lengths: Lengths, policy: DataPolicy) -> None:
    limits = {
        ROWS_FILE: (lengths.rows, policy.max_file_bytes),
        CONFIG_FILE: (lengths.config or 0, MAX_CONFIG_BYTES),
        HYPOTHESIS_FILE: (lengths.hypothesis or 0, policy.max_hypothesis_bytes),
    }
    too_large = [
        Problem(
            Code.FILE_TOO_LARGE.value, f"the file has {given} bytes; at most {limit} are taken", _SMALLER, file=file
        )
        for file, (given, limit) in limits.items()
        if given > limit
    ]
    if too_large:
        raise SubmissionRefused(too_large)
