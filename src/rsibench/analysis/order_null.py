"""The exchangeability null: a run's attempts could have been made in any order.

It keeps every score that was seen and asks only whether their order says something. Under it a later attempt often
beats the first and the last is often below the best: of T attempts with m at the peak, the first and the last are each
below it with probability 1 - m / T. Only whether the first and the last are at the peak matters, so permutations are
not drawn one by one.
"""

from __future__ import annotations

import numpy as np

from rsibench.analysis.attempt_scores import AttemptScores, ProcessMarks, process_marks
from rsibench.analysis.null_comparison import NullComparison, compare
from rsibench.analysis.process_rates import ProcessRate, count, counts

DRAWS = 20_000
NAME = "attempts of a run in random order"


def shuffled_marks(attempts: AttemptScores, rng: np.random.Generator, draws: int) -> ProcessMarks:
    """(draws, runs) marks of independent random orders of each run's attempts."""
    length, ties = attempts.lengths, attempts.ties_at_peak
    shape = (draws, len(length))
    first_at_peak = rng.random(shape) * length < ties
    left = np.maximum(length - 1, 1)
    last_at_peak = rng.random(shape) * left < ties - first_at_peak
    single = length == 1
    last_at_peak |= single
    peak_only_last = last_at_peak & (ties == 1)
    went_on = ~peak_only_last
    return ProcessMarks(
        retried=np.broadcast_to(~single, shape),
        discovered=~first_at_peak & ~single,
        went_on=went_on,
        regressed=went_on & ~last_at_peak,
        recovered=went_on & last_at_peak,
    )


def order_null(
    attempts: AttemptScores, rate: ProcessRate, rng: np.random.Generator, draws: int = DRAWS
) -> NullComparison:
    """The observed rate against random orders of the same scores."""
    drawn = counts(shuffled_marks(attempts, rng, draws), rate).rates()
    return compare(rate, count(process_marks(attempts), rate), drawn, NAME)
