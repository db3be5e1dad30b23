"""Reading rows: limits hold before anything large is in memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from rsibench.gate.files import read_lines
from rsibench.gate.problems import Problems
from rsibench.testing.lab import DATA

MIB = 1 << 20


def test_lines_are_numbered_from_one_and_have_no_line_feed() -> None:
    problems = Problems()
    lines = list(read_lines(b"a\nb\r\nc", DATA, problems))
    assert [(line.number, line.data) for line in lines] == [(1, b"a"), (2, b"b\r"), (3, b"c")]
    assert len(problems) == 0


def test_only_a_line_feed_ends_a_line() -> None:
    lines = list(read_lines("a\u2028b\x0bc\x0cd\x85e".encode(), DATA, Problems()))
    assert len(lines) == 1


def test_a_line_of_exactly_the_limit_is_read_and_one_byte_more_is_not() -> None:
    limit = DATA.max_line_bytes
    problems = Problems()
    data = b"x" * limit + b"\n" + b"y" * (limit + 1) + b"\n" + b"z"
    assert [line.number for line in read_lines(data, DATA, problems)] == [1, 3]
    assert len(problems) == 1


def test_a_long_line_is_skipped_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with path.open("wb") as file:
        file.truncate(64 * MIB)
        file.seek(0, 2)
        file.write(b"\nlast\n")
    policy = DATA.model_copy(update={"max_file_bytes": 100 * MIB})
    problems = Problems()
    tracemalloc.start()
    try:
        lines = list(read_lines(path, policy, problems))
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [(line.number, line.data) for line in lines] == [(2, b"last")]
    assert len(problems) == 1
    assert peak_bytes < 4 * MIB
