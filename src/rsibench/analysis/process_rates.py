"""The process rates of a set of runs: how often feedback seemed to be turned into gains, and how often they were lost.

None of them means anything alone: random attempts give large values of the first two. `order_null` and `equal_skill`
hold what chance gives.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from rsibench.analysis.arrays import Floats, Ints
from rsibench.analysis.attempt_scores import ProcessMarks


class ProcessRate(StrEnum):
    """What is counted of what."""

    DISCOVERY = "discovery"
    """A later attempt beat the first, of the runs with a second attempt."""
    NEVER_IMPROVED = "never improved"
    """No later attempt beat the first, of the runs with a second attempt."""
    REGRESSION = "post-peak regression"
    """The last attempt scored below the best, of the runs that went on after first reaching it."""
    RECOVERY = "recovered peak"
    """The last attempt reached the best score again, of the runs that went on after first reaching it."""
    PERSISTENCE = "went on after the peak"
    """At least one attempt followed the one that first reached the best score, of all runs."""


class CountOf(NamedTuple):
    """`events` of `of`; a rate only where there is something to count."""

    events: int
    of: int

    @property
    def rate(self) -> float | None:
        return self.events / self.of if self.of else None


class CountsOf(NamedTuple):
    """Counts and denominators (...,) of many sets of runs."""

    events: Ints
    of: Ints

    def rates(self) -> Floats:
        """(m,): rates of the sets that have a denominator; m may be smaller than the number of sets."""
        known = self.of > 0
        shares: Floats = self.events[known] / self.of[known]
        return shares


def counts(marks: ProcessMarks, rate: ProcessRate) -> CountsOf:
    """Counts over the last axis of the marks, the runs."""
    event, base = {
        ProcessRate.DISCOVERY: (marks.discovered & marks.retried, marks.retried),
        ProcessRate.NEVER_IMPROVED: (~marks.discovered & marks.retried, marks.retried),
        ProcessRate.REGRESSION: (marks.regressed, marks.went_on),
        ProcessRate.RECOVERY: (marks.recovered, marks.went_on),
        ProcessRate.PERSISTENCE: (marks.went_on, np.ones_like(marks.went_on)),
    }[rate]
    return CountsOf(event.sum(axis=-1), base.sum(axis=-1))


def count(marks: ProcessMarks, rate: ProcessRate) -> CountOf:
    """The count of one set of runs, from marks (runs,)."""
    found = counts(marks, rate)
    return CountOf(int(found.events), int(found.of))
