"""Score against cost: which researchers are not beaten on both, and how much of the plane they cover.

The hypervolume is relative to a reference point that is part of its version: no gain (base's score) at the full budget.
Values of different versions or references are not comparable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

HYPERVOLUME_VERSION = "hypervolume-1"


class Priced(NamedTuple):
    """One researcher's mean cost in dollars and mean official score, a share."""

    name: str
    usd: float
    score: float


def pareto_front(points: Sequence[Priced]) -> tuple[Priced, ...]:
    """The points that no other one beats: none is at most as dear and scores at least as high, and differs. By cost."""
    front: list[Priced] = []
    for point in sorted(points, key=lambda one: (one.usd, -one.score)):
        if not front or point.score > front[-1].score or point[1:] == front[-1][1:]:
            front.append(point)
    return tuple(front)


def hypervolume(points: Sequence[Priced], base: float, budget_usd: float) -> float:
    """Share of the rectangle between (no cost, score 1) and (budget, base) that the points dominate, from 0 to 1.

    The two-dimensional hypervolume of Zitzler and Thiele (1999), IEEE Trans. Evol. Comput. 3, 257. A point that costs
    more than the budget or does not beat base adds nothing.
    """
    if budget_usd <= 0 or not 0 <= base < 1:
        raise ValueError(f"the reference needs a positive budget and a base below 1, not {budget_usd} and {base}")
    inside = [one for one in points if one.usd < budget_usd and one.score > base]
    covered, reached = 0.0, base
    for point in pareto_front(inside):
        covered += (budget_usd - point.usd) * (point.score - reached)
        reached = point.score
    return covered / (budget_usd * (1 - base))
