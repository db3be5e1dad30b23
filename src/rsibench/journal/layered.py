"""Layered: an immutable mapping that is cheap to extend, for states that gain one entry an event.

Invariant: equal to, and in the order of, the plain dict that the same entries would make. A copy takes the few entries
of the upper layer; only now and then are both layers copied into a new lower one. A fold over n events with a key each
so costs about n times the layer's size and not n squared. Not here: removal, which no state needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_MOST_ABOVE = 64
"""Entries of the upper layer: larger makes every copy dearer, smaller makes the whole be copied more often."""


class Layered[K, V](Mapping[K, V]):
    """A mapping made of two dicts that are never changed after it was made."""

    __slots__ = ("_above", "_below", "_new")

    def __init__(self, below: dict[K, V], above: dict[K, V], new: int) -> None:
        self._below = below
        self._above = above
        self._new = new  # entries of the upper layer that the lower one does not have

    def __getitem__(self, key: K) -> V:
        if key in self._above:
            return self._above[key]
        return self._below[key]

    def __iter__(self) -> Iterator[K]:
        yield from self._below
        for key in self._above:
            if key not in self._below:
                yield key

    def __len__(self) -> int:
        return len(self._below) + self._new

    def __repr__(self) -> str:
        return f"Layered({dict(self)!r})"


def extended[K, V](mapping: Mapping[K, V], key: K, value: V) -> Layered[K, V]:
    """A copy of `mapping` in which `key` is `value`."""
    if not isinstance(mapping, Layered):
        mapping = Layered(dict(mapping), {}, 0)
    below, above = mapping._below, {**mapping._above, key: value}
    if len(above) > _MOST_ABOVE:
        return Layered({**below, **above}, {}, 0)
    return Layered(below, above, mapping._new + (key not in mapping))
