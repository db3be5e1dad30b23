"""Bytes of a submission as text: UTF-8 without byte order mark, NUL or, in row files, carriage returns."""

from __future__ import annotations

from rsibench.gate.codes import Code
from rsibench.gate.problems import Problems

_MARK = b"\xef\xbb\xbf"


def decode_text(data: bytes, file: str, problems: Problems, row: int | None = None) -> str | None:
    """The text of a file, or of its line `row`; None with problems."""
    before = len(problems)
    if data.startswith(_MARK) and row in (None, 1):
        problems.add(
            Code.BYTE_ORDER_MARK, "the file begins with a byte order mark", "save it without one", file=file, row=row
        )
        data = data.removeprefix(_MARK)
    if b"\x00" in data:
        why = f"byte {data.index(0) + 1} is NUL"
        problems.add(Code.NUL, why, "remove it; was the file written as UTF-16?", file=file, row=row)
    text = None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        why = f"byte {error.start + 1} is not UTF-8 ({error.reason})"
        problems.add(Code.NOT_UTF8, why, "save the file as UTF-8", file=file, row=row)
    return text if len(problems) == before else None
