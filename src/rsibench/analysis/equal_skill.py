"""The equal-skill null: every attempt of a run is as good as any other, and scores differ by measurement alone.

Unlike the order null it needs no recorded scores, only sizes: how many attempts, tasks and decodes, and at what rate. A
share `icc` of the tasks always gives one verdict, the others are coin flips at the run's rate; so verdicts have the
mean and the intraclass correlation asked for, and attempts of a run are correlated because they meet the same tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from rsibench.analysis.arrays import Floats, Ints
from rsibench.analysis.attempt_scores import ProcessMarks, marks_of
from rsibench.analysis.null_comparison import NullComparison, compare
from rsibench.analysis.process_rates import CountOf, ProcessRate, counts

DRAWS = 5_000
NAME = "all attempts of a run equally good"
_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class RunSizes:
    """(runs,) each: the rate that all attempts of a run share, its tasks, its decodes, and how many attempts it
    made.
    """

    rates: Floats
    tasks: Ints
    decodes: Ints
    lengths: Ints


def live_trials(tasks: Ints, decodes: Ints, icc: float) -> Ints:
    """(runs,): trials whose verdict differs from attempt to attempt; at least one, at most all."""
    if not 0 <= icc < 1:
        raise ValueError(f"an intraclass correlation lies between 0 and 1, got {icc}")
    whole = np.rint(tasks * decodes * (1 - icc)).astype(np.int64)
    return cast(Ints, np.maximum(whole, 1))


def equal_skill_marks(sizes: RunSizes, icc: float, rng: np.random.Generator, draws: int) -> ProcessMarks:
    """(draws, runs) marks of simulated runs. Trials that never change shift no comparison and are left out."""
    return draw_marks(sizes, np.broadcast_to(sizes.lengths, (draws, len(sizes.lengths))), icc, rng)


def draw_marks(sizes: RunSizes, lengths: Ints, icc: float, rng: np.random.Generator) -> ProcessMarks:
    """(draws, runs) marks with numbers of attempts `lengths` (draws, runs) that may differ between draws."""
    live = live_trials(sizes.tasks, sizes.decodes, icc)
    longest = int(lengths.max())
    step = max(1, _CHUNK_CELLS // (lengths.shape[1] * longest))
    parts = []
    for start in range(0, len(lengths), step):
        part = np.asarray(lengths[start : start + step])
        shape = (*part.shape, longest)
        scores = rng.binomial(live[:, None], sizes.rates[:, None], size=shape).astype(np.float64)
        scores[np.arange(longest) >= part[..., None]] = -np.inf
        parts.append(marks_of(scores, part))
    return ProcessMarks(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("retried", "discovered", "went_on", "regressed", "recovered")
        )
    )


def equal_skill_name(icc: float) -> str:
    """What this null is called, with its assumption."""
    return f"{NAME}, intraclass correlation {icc:g}"


def equal_skill_null(
    observed: CountOf,
    rate: ProcessRate,
    sizes: RunSizes,
    icc: float,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> NullComparison:
    """An observed count against runs of these sizes in which no attempt is better than another."""
    drawn = counts(equal_skill_marks(sizes, icc, rng, draws), rate).rates()
    return compare(rate, observed, drawn, equal_skill_name(icc))
