"""An exported journal: the same rows, and any changed byte is found on the file as it is in the database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rsibench.errors import IntegrityError
from rsibench.journal.chain import verify_chain
from rsibench.journal.lines import from_lines, to_line
from rsibench.spec.frozen import canonical_json
from rsibench.store.rows import EventRow

Rows = tuple[EventRow, ...]


def test_a_file_holds_the_same_rows(whole_rows: Rows, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"".join(to_line(row) + b"\n" for row in whole_rows))
    with path.open("rb") as lines:
        assert tuple(from_lines(lines, path.name)) == whole_rows


def test_a_line_is_canonical_json_of_all_columns(whole_rows: Rows) -> None:
    for row in whole_rows:
        columns = {**row._asdict(), "body": json.loads(row.body)}
        assert to_line(row) == canonical_json(columns)


@pytest.mark.parametrize("line", [b"", b"{}", b"\n", b"not json", b'{"at":1}'])
def test_a_line_of_another_form_is_named(whole_rows: Rows, line: bytes) -> None:
    with pytest.raises(IntegrityError, match=r"journal\.jsonl:2"):
        list(from_lines([to_line(whole_rows[0]), line], "journal.jsonl"))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_flipped_byte_of_a_file_is_found(whole_rows: Rows, data: st.DataObject) -> None:
    content = bytearray(b"".join(to_line(row) + b"\n" for row in whole_rows))
    position = data.draw(st.integers(0, len(content) - 2), label="position")
    content[position] ^= data.draw(st.integers(1, 255), label="flipped bits")
    with pytest.raises(IntegrityError):
        verify_chain(from_lines(bytes(content).splitlines(keepends=True), "journal.jsonl"))
