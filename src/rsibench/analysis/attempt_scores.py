"""Selection scores of the valid attempts of many runs, in the order in which they were made.

Invariant: `scores` (runs, longest) holds the first `lengths` (runs,) attempts of each row and minus infinity after
them, so that maxima need no mask. Every run has at least one attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rsibench.analysis.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class AttemptScores:
    """See the module. Scores that are equal as numbers are ties; give counts or exact shares, not rounded percents."""

    scores: Floats
    lengths: Ints

    @classmethod
    def of(cls, runs: Sequence[Sequence[float]]) -> AttemptScores:
        """From one sequence a run. Raises ValueError for a run without attempts or a score that is no number."""
        lengths = np.array([len(run) for run in runs], dtype=np.int64)
        if len(runs) == 0 or lengths.min() < 1:
            raise ValueError("every run needs at least one valid attempt; leave the others out and say how many")
        scores = np.full((len(runs), int(lengths.max())), -np.inf)
        for row, run in enumerate(runs):
            scores[row, : len(run)] = run
        if not np.all(np.isfinite(scores) | (np.arange(scores.shape[1]) >= lengths[:, None])):
            raise ValueError("an attempt without a score is not a valid attempt; leave it out")
        return cls(scores, lengths)

    @property
    def peaks(self) -> Floats:
        """(runs,): the best score of each run."""
        best: Floats = self.scores.max(axis=1)
        return best

    @property
    def ties_at_peak(self) -> Ints:
        """(runs,): how many attempts reached the best score."""
        ties: Ints = (self.scores == self.peaks[:, None]).sum(axis=1)
        return ties

    @property
    def last(self) -> Floats:
        """(runs,): the score of each run's last attempt."""
        return self.scores[np.arange(len(self.lengths)), self.lengths - 1]


@dataclass(frozen=True, eq=False)
class ProcessMarks:
    """What happened in each run, (..., runs) each: the events that process rates count."""

    retried: Bools
    """There was a second attempt."""
    discovered: Bools
    """A later attempt beat the first."""
    went_on: Bools
    """At least one attempt followed the one that first reached the best score."""
    regressed: Bools
    """Went on and ended below the best."""
    recovered: Bools
    """Went on and ended at the best again."""


def process_marks(attempts: AttemptScores) -> ProcessMarks:
    """The marks (runs,) of recorded or simulated attempts."""
    return marks_of(attempts.scores, attempts.lengths)


def marks_of(scores: Floats, lengths: Ints) -> ProcessMarks:
    """The marks (..., runs) of padded scores (..., runs, longest) with lengths (..., runs)."""
    peak = scores.max(axis=-1)
    last = np.take_along_axis(scores, lengths[..., None] - 1, axis=-1)[..., 0]
    went_on = scores.argmax(axis=-1) < lengths - 1
    return ProcessMarks(
        retried=lengths > 1,
        discovered=peak > scores[..., 0],
        went_on=went_on,
        regressed=went_on & (last < peak),
        recovered=went_on & (last == peak),
    )
