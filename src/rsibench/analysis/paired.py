"""Two checkpoints on the same tasks: the difference of their pass rates, with an interval and exact tests.

Tasks that have a rate on one side only are left out and counted. With a single decode on both sides the interval is
Bonett and Price's and the test McNemar's; with more it is the cluster bootstrap and the sign-flip test.
"""

from __future__ import annotations

from enum import StrEnum
from math import lcm, sqrt
from typing import NamedTuple

import numpy as np
from scipy import special

from rsibench.analysis.arrays import Floats, Ints
from rsibench.analysis.bootstrap import DRAWS, bootstrap_interval
from rsibench.analysis.interval import CONFIDENCE, Interval
from rsibench.analysis.mcnemar import ExactTest, mcnemar
from rsibench.analysis.sign_flip import sign_flip, sign_flip_drawn
from rsibench.analysis.task_counts import TaskCounts

_LARGEST_STEP = 1_000


class PairedMethod(StrEnum):
    """How a paired interval and test were made."""

    SINGLE = "Bonett-Price interval, exact McNemar test"
    CLUSTER = "cluster bootstrap interval, exact sign-flip test"
    DRAWN = "cluster bootstrap interval, drawn sign-flip test"
    """Tasks have different numbers of counted decodes, so all flips cannot be enumerated."""
    CONSTANT = "no task differs from another; interval for a share of 0 tasks that would"


class PairedDifference(NamedTuple):
    """`difference` is the second minus the first, a share. `test.mid_p` is the p-value to print."""

    difference: float
    interval: Interval
    test: ExactTest
    method: PairedMethod
    tasks: int
    left_out: int
    gained: int
    """Tasks on which the second did better."""
    lost: int


class _Pairs(NamedTuple):
    first: Floats
    second: Floats
    decodes: Ints
    left_out: int


def paired_difference(
    first: TaskCounts, second: TaskCounts, rng: np.random.Generator, draws: int = DRAWS
) -> PairedDifference:
    """`second` minus `first` over the tasks that both have. Raises ValueError when there is none."""
    pairs = _matched(first, second)
    differences = pairs.second - pairs.first
    if len(differences) == 0:
        raise ValueError("the two sides share no task with a counted decode")
    gained, lost = int((differences > 0).sum()), int((differences < 0).sum())
    test: ExactTest
    if np.all(pairs.decodes == 1):
        method, test = PairedMethod.SINGLE, mcnemar(gained, lost)
        interval = bonett_price(gained, lost, len(differences))
    else:
        step = lcm(*(int(count) for count in np.unique(pairs.decodes)))
        exact = step <= _LARGEST_STEP
        method = PairedMethod.CLUSTER if exact else PairedMethod.DRAWN
        test = sign_flip(np.rint(differences * step)) if exact else sign_flip_drawn(differences, rng)
        interval = bootstrap_interval(differences, rng, draws)
        if np.ptp(differences) == 0:
            method, interval = PairedMethod.CONSTANT, _constant(float(differences[0]), len(differences))
    return PairedDifference(
        difference=float(differences.mean()),
        interval=interval,
        test=test,
        method=method,
        tasks=len(differences),
        left_out=pairs.left_out,
        gained=gained,
        lost=lost,
    )


def bonett_price(gained: int, lost: int, tasks: int, confidence: float = CONFIDENCE) -> Interval:
    """Interval for (gained - lost) / tasks with one task added to each of the two counts.

    Bonett and Price (2012), J. Educ. Behav. Stat. 37, 479. Never without width, so no change in few tasks
    is not taken for proof of none.
    """
    up, down = (gained + 1) / (tasks + 2), (lost + 1) / (tasks + 2)
    half = float(special.ndtri(0.5 + confidence / 2)) * sqrt((up + down - (up - down) ** 2) / (tasks + 2))
    return Interval(max(-1.0, up - down - half), min(1.0, up - down + half))


def _constant(value: float, tasks: int, confidence: float = CONFIDENCE) -> Interval:
    """With 0 of n tasks unlike the others, up to this share of tasks could be, by at most a whole point each."""
    share = float(1 - ((1 - confidence) / 2) ** (1 / tasks))
    return Interval(max(-1.0, value - share * (1 + value)), min(1.0, value + share * (1 - value)))


def _matched(first: TaskCounts, second: TaskCounts) -> _Pairs:
    here = {name: index for index, name in enumerate(first.task_ids)}
    there = {name: index for index, name in enumerate(second.task_ids)}
    common = [name for name in first.task_ids if name in there]
    left = np.array([here[name] for name in common], dtype=np.int64)
    right = np.array([there[name] for name in common], dtype=np.int64)
    known = (first.counted[left] > 0) & (second.counted[right] > 0)
    left, right = left[known], right[known]
    decodes = np.stack([first.counted[left], second.counted[right]])
    every = len(set(here) | set(there))
    return _Pairs(first.rates()[left], second.rates()[right], decodes, every - len(left))
