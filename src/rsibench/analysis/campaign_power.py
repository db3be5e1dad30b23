"""Power of a campaign: what difference between two researchers it can find, and what finding a smaller one would take.

Every seed is another run of the same researcher on the same official tasks. A seed therefore counts as a decode nested
in its task, and adds the spread between runs: a researcher that is lucky once is not lucky with every seed.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

from scipy import optimize, special

from rsibench.analysis.power import POWER, SIZE, Design, difference_variance

MOST_SEEDS = 1_000
MOST_TASKS = 1_000_000


class CampaignDesign(NamedTuple):
    """`run_sd` is the standard deviation of the true score between runs of one researcher; the rest as in Design."""

    tasks: int
    decodes: int
    seeds: int
    icc: float
    shared: float
    run_sd: float


def difference_error(first: float, second: float, design: CampaignDesign) -> float:
    """Standard error of the difference of two researchers' mean official scores.

    Items and decodes as in `difference_variance` with seeds x decodes verdicts a task; 2 run_sd^2 / seeds on top.
    """
    nested = Design(design.tasks, design.decodes * design.seeds, design.icc, design.shared)
    return sqrt(difference_variance(first, second, nested) + 2 * design.run_sd**2 / design.seeds)


def campaign_power(first: float, second: float, design: CampaignDesign, size: float = SIZE) -> float:
    """Chance that a two-sided normal test of `size` calls two researchers with these true scores different."""
    error = difference_error(first, second, design)
    if error == 0:
        return float(first != second)
    z, effect = float(special.ndtri(1 - size / 2)), abs(second - first) / error
    return float(special.ndtr(effect - z) + special.ndtr(-effect - z))


def smallest_difference(rate: float, design: CampaignDesign, wanted: float = POWER, size: float = SIZE) -> float | None:
    """Smallest difference from `rate` found with power `wanted`; upwards, or downwards where there is more room.

    None where no possible score is far enough.
    """
    room = max(rate, 1 - rate)
    sign = 1 if rate <= 1 - rate else -1

    def lacking(step: float) -> float:
        return campaign_power(rate, rate + sign * step, design, size) - wanted

    far = room * (1 - 1e-9)
    if lacking(far) < 0:
        return None
    return float(optimize.brentq(lacking, 1e-9 * room, far, xtol=1e-6))


def seeds_needed(
    rate: float, difference: float, design: CampaignDesign, wanted: float = POWER, size: float = SIZE
) -> int | None:
    """Fewest seeds with which `difference` from `rate` is found; None when more seeds alone cannot do it.

    Seeds do not average out the tasks: with too few tasks no number of seeds is enough.
    """
    other = _other(rate, difference)
    return _fewest(lambda seeds: campaign_power(rate, other, design._replace(seeds=seeds), size) >= wanted, MOST_SEEDS)


def tasks_needed(
    rate: float, difference: float, design: CampaignDesign, wanted: float = POWER, size: float = SIZE
) -> int | None:
    """Fewest official tasks with which `difference` is found at the design's seeds; None when tasks alone cannot."""
    other = _other(rate, difference)
    return _fewest(lambda tasks: campaign_power(rate, other, design._replace(tasks=tasks), size) >= wanted, MOST_TASKS)


def _other(rate: float, difference: float) -> float:
    """The score that lies `difference` from `rate`, upwards unless that leaves the scale."""
    return rate + difference if rate + difference <= 1 else rate - difference


def _fewest(enough: Callable[[int], bool], most: int) -> int | None:
    """Smallest count from 1 to `most` for which `enough` holds; it must hold for all larger ones too."""
    if not enough(most):
        return None
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return low
