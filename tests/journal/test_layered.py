"""The mapping of a state: equal to a plain dict however it was extended, and never changed by a later extension."""

from __future__ import annotations

from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from rsibench.journal.layered import extended

PAIRS = st.lists(st.tuples(st.integers(0, 150), st.integers()), max_size=300)


@given(start=st.dictionaries(st.integers(0, 150), st.integers(), max_size=20), pairs=PAIRS)
def test_it_is_the_dict_that_the_same_entries_make(start: dict[int, int], pairs: list[tuple[int, int]]) -> None:
    plain = dict(start)
    mapping = MappingProxyType(dict(start))
    layered = extended(mapping, -1, 0)
    plain[-1] = 0
    steps = []
    for key, value in pairs:
        steps.append((layered, dict(plain)))
        layered = extended(layered, key, value)
        plain[key] = value
    steps.append((layered, plain))
    for found, expected in steps:
        assert list(found.items()) == list(expected.items())
        assert len(found) == len(expected)
        assert (found == MappingProxyType(expected), MappingProxyType(expected) == found) == (True, True)
        assert found.get(9_999) is None
    assert mapping == start
