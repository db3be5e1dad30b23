"""Whatever is done to the rows of a sealed journal, the chain finds it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsibench.errors import IntegrityError
from rsibench.journal.chain import verify_chain
from rsibench.journal.envelope import Head
from rsibench.store.rows import EventRow
from rsibench.testing.run_builder import RunBuilder

_MANY = settings(max_examples=400, deadline=None)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[EventRow]:
    """The rows of a whole run."""
    with RunBuilder(tmp_path_factory.mktemp("tamper")) as run:
        return list(run.whole().journal.rows())


def _flipped(value: object, data: st.DataObject) -> object:
    """The value with one of its stored bytes changed, as a database would give it back."""
    content = bytearray(value if isinstance(value, bytes) else str(value).encode())
    position = data.draw(st.integers(0, len(content) - 1), label="position")
    content[position] ^= data.draw(st.integers(1, 255), label="flipped bits")
    if isinstance(value, bytes):
        return bytes(content)
    text = content.decode("latin-1")
    return int(text) if isinstance(value, int) and text.isascii() and text.isdigit() else text


@_MANY
@given(data=st.data())
def test_one_flipped_byte_in_any_column(rows: list[EventRow], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(rows) - 1), label="event")
    place = data.draw(st.integers(0, len(EventRow._fields) - 1), label="column")
    value = rows[index][place]
    changed = EventRow._make([*rows[index][:place], _flipped(value, data), *rows[index][place + 1 :]])
    if changed == rows[index]:  # a number written another way, such as 07 for 7, is the same stored number
        return
    with pytest.raises(IntegrityError):
        verify_chain([*rows[:index], changed, *rows[index + 1 :]])


@_MANY
@given(data=st.data())
def test_rows_removed_doubled_or_moved(rows: list[EventRow], data: st.DataObject) -> None:
    order = list(range(len(rows)))
    first = data.draw(st.integers(0, len(rows) - 1), label="first")
    second = data.draw(st.integers(0, len(rows) - 1), label="second")
    match data.draw(st.sampled_from(["remove", "double", "swap", "move"]), label="damage"):
        case "remove":
            del order[first]
        case "double":
            order.insert(second, first)
        case "swap":
            order[first], order[second] = order[second], order[first]
        case "move":
            order.insert(second, order.pop(first))
    if order == list(range(len(rows))):
        return
    with pytest.raises(IntegrityError):
        verify_chain([rows[number] for number in order], expected_head=Head(rows[-1].seq, rows[-1].hash))


@_MANY
@given(data=st.data())
def test_a_column_taken_from_another_row(rows: list[EventRow], data: st.DataObject) -> None:
    index, other = (data.draw(st.integers(0, len(rows) - 1), label="event") for _ in range(2))
    column = data.draw(st.sampled_from(EventRow._fields), label="column")
    changed = rows[index]._replace(**{column: getattr(rows[other], column)})
    if changed == rows[index]:
        return
    with pytest.raises(IntegrityError):
        verify_chain([*rows[:index], changed, *rows[index + 1 :]])


@settings(deadline=None)
@given(kept=st.integers(1, 38))
def test_a_cut_tail_is_seen_only_against_a_known_head(rows: list[EventRow], kept: int) -> None:
    assert verify_chain(rows[:kept]).events == kept
    for known in ({"expected_head": Head(rows[-1].seq, rows[-1].hash)}, {"must_be_sealed": True}):
        with pytest.raises(IntegrityError, match="the journal ends here"):
            verify_chain(rows[:kept], **known)
