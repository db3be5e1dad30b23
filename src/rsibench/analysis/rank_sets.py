"""Ranks as sets: which places in an order the data allow each entry, given tests of all pairs.

An entry that is shown to be worse than j others and better than k others may have any rank from j + 1 to n - k; with
familywise correction all these sets hold together with 95 % (Mogstad, Romano, Shaikh and Wilhelm, 2024, Rev. Econ.
Stud. 91, 476).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from rsibench.analysis.holm import holm

LEVEL = 0.05


class PairTest(NamedTuple):
    """One pair: `better` has the higher score, or stands first at equality; `adjusted_p` is Holm's."""

    better: str
    worse: str
    difference: float
    p_value: float
    adjusted_p: float

    @property
    def separable(self) -> bool:
        return self.adjusted_p <= LEVEL


class RankSet(NamedTuple):
    """The best and the worst rank that the data allow; rank 1 is the highest score."""

    name: str
    score: float
    best: int
    worst: int


class Ranking(NamedTuple):
    """`sets` by falling score, `pairs` by rising p-value. `leaders` are all that may have rank 1."""

    sets: tuple[RankSet, ...]
    pairs: tuple[PairTest, ...]

    @property
    def leaders(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.sets if entry.best == 1)

    @property
    def separable(self) -> tuple[PairTest, ...]:
        return tuple(pair for pair in self.pairs if pair.separable)


def rank(names: Sequence[str], scores: Sequence[float], p_value: Callable[[int, int], float]) -> Ranking:
    """Rank sets of entries whose pairs `p_value(i, j)` compares two-sidedly; corrected over all pairs together."""
    order = sorted(range(len(names)), key=lambda index: -scores[index])
    couples = list(combinations(order, 2))
    raw = [p_value(one, two) for one, two in couples]
    adjusted = holm(raw)
    pairs = tuple(
        PairTest(names[one], names[two], scores[one] - scores[two], p, float(q))
        for (one, two), p, q in zip(couples, raw, adjusted, strict=True)
    )
    sets = []
    for index in order:
        above = sum(pair.separable and pair.worse == names[index] for pair in pairs)
        below = sum(pair.separable and pair.better == names[index] for pair in pairs)
        sets.append(RankSet(names[index], scores[index], above + 1, len(names) - below))
    return Ranking(tuple(sets), tuple(sorted(pairs, key=lambda pair: (pair.adjusted_p, pair.p_value))))
