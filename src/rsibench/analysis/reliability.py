"""Reliability over seeds: how often a researcher gains, how often it does harm, and what its worst seed did."""

from __future__ import annotations

from typing import NamedTuple

from rsibench.analysis.arrays import Floats
from rsibench.analysis.interval import Interval
from rsibench.analysis.proportion import wilson


class Reliability(NamedTuple):
    """Shares of runs with Wilson intervals. A run that kept base gains nothing and does no harm.

    `gain` and `harm` count the sign of the measured official difference, noise included; `clear_gain` and `clear_harm`
    only those whose own interval excludes 0.
    """

    runs: int
    gain: float
    gain_interval: Interval
    harm: float
    harm_interval: Interval
    clear_gain: float
    clear_harm: float
    worst: float
    best: float
    mean: float
    spread: float | None
    """Standard deviation between seeds; None for a single one."""


def reliability(differences: Floats, lows: Floats, highs: Floats) -> Reliability:
    """From official differences (runs,) and their intervals' bounds (runs,) each. Raises ValueError for no run."""
    runs = len(differences)
    if runs == 0:
        raise ValueError("reliability needs at least one run")
    gains, harms = int((differences > 0).sum()), int((differences < 0).sum())
    return Reliability(
        runs=runs,
        gain=gains / runs,
        gain_interval=wilson(gains, runs),
        harm=harms / runs,
        harm_interval=wilson(harms, runs),
        clear_gain=float((lows > 0).mean()),
        clear_harm=float((highs < 0).mean()),
        worst=float(differences.min()),
        best=float(differences.max()),
        mean=float(differences.mean()),
        spread=float(differences.std(ddof=1)) if runs > 1 else None,
    )
