"""Power and the detectable difference between two checkpoints, from tasks, decodes and how alike a task's decodes are.

`icc` is the intraclass correlation: the share of a verdict's variance that lies between tasks. `shared` is how much of
that part the two sides have in common and a paired comparison takes out: 0 for different tasks, up to 1 for the same.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from scipy import optimize, special

SIZE = 0.05
POWER = 0.80


class Design(NamedTuple):
    """How two checkpoints are compared."""

    tasks: int
    decodes: int = 1
    icc: float = 0.5
    shared: float = 0.0


def design_effect(decodes: int, icc: float) -> float:
    """Variance of a mean over nested decodes against that of as many independent trials (Kish, 1965)."""
    return 1 + (decodes - 1) * icc


def rate_variance(rate: float, design: Design) -> float:
    """Variance of a pass rate over the tasks and decodes of a design."""
    trials = design.tasks * design.decodes
    return rate * (1 - rate) / trials * design_effect(design.decodes, design.icc)


def difference_variance(first: float, second: float, design: Design) -> float:
    """Variance of the difference of two pass rates; the shared part between tasks cancels."""
    spread = sqrt(first * (1 - first) * second * (1 - second))
    cancelled = 2 * design.shared * design.icc * spread / design.tasks
    return rate_variance(first, design) + rate_variance(second, design) - cancelled


def power(first: float, second: float, design: Design, size: float = SIZE) -> float:
    """Chance that a two-sided normal test of `size` calls rates `first` and `second` different.

    The normal approximation of Fleiss, Levin and Paik (2003), chapter 4, with one variance for both hypotheses.
    """
    error = sqrt(difference_variance(first, second, design))
    if error == 0:
        return float(first != second)
    z, effect = float(special.ndtri(1 - size / 2)), abs(second - first) / error
    return float(special.ndtr(effect - z) + special.ndtr(-effect - z))


def detectable_difference(
    rate: float, design: Design, wanted: float = POWER, size: float = SIZE, upwards: bool = True
) -> float | None:
    """Smallest difference from `rate` that is found with power `wanted`; None where no possible rate is far enough."""
    room = 1 - rate if upwards else rate
    sign = 1 if upwards else -1

    def lacking(step: float) -> float:
        return power(rate, rate + sign * step, design, size) - wanted

    far = room * (1 - 1e-9)
    if room <= 0 or lacking(far) < 0:
        return None
    return float(optimize.brentq(lacking, 1e-9 * room, far, xtol=1e-6))


def typical_detectable_difference(rate: float, design: Design, wanted: float = POWER, size: float = SIZE) -> float:
    """(z + z) standard errors of the difference of two equal rates: the figure to quote before anything is run."""
    quantiles = float(special.ndtri(1 - size / 2) + special.ndtri(wanted))
    return quantiles * sqrt(difference_variance(rate, rate, design))
