"""A journal as a file: one canonical JSON object a line, holding every stored column, the body as the object it is.

Invariant: a row read back from its line is the row that was written, byte for byte, so that a chain can be checked on
an exported file as on the database; a line in any other form is refused. Not here: which files a bundle holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rsibench.errors import IntegrityError
from rsibench.store.rows import EventRow

# Every field but the body is free of quotes, so the parts can be told apart whatever the body holds.
_LINE = re.compile(
    rb'\{"at":"([^"\\]*)","body":(\{.*\}),"elapsed_ms":(0|[1-9]\d*),"hash":"([^"\\]*)","kind":"([^"\\]*)",'
    rb'"previous_hash":"([^"\\]*)","run_id":"([^"\\]*)","seq":([1-9]\d*)\}'
)


def to_line(row: EventRow) -> bytes:
    """The row as a line without its line feed. The row is one that a journal wrote; see `checked_rows`."""
    head = f'{{"at":"{row.at}","body":'.encode()
    names = f'"hash":"{row.hash}","kind":"{row.kind}","previous_hash":"{row.previous_hash}","run_id":"{row.run_id}"'
    return head + row.body + f',"elapsed_ms":{row.elapsed_ms},{names},"seq":{row.seq}}}'.encode()


def from_lines(lines: Iterable[bytes], name: str) -> Iterator[EventRow]:
    """The rows of an exported journal, such as an open binary file. Raises IntegrityError naming file and line."""
    for number, line in enumerate(lines, start=1):
        found = _LINE.fullmatch(line.removesuffix(b"\n"))
        if found is None:
            fix = "the file was changed or cut; export the run again"
            raise IntegrityError("is no line of an exported journal", where=f"{name}:{number}", fix=fix)
        at, body, elapsed_ms, own_hash, kind, previous_hash, run_id, seq = found.groups()
        texts = [part.decode("utf-8", "replace") for part in (run_id, at, kind, previous_hash, own_hash)]
        run, moment, kind_text, previous, own = texts
        yield EventRow(run, int(seq), moment, int(elapsed_ms), kind_text, body, previous, own)
