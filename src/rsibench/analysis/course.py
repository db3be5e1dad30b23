"""Course: what a run's attempts scored and what had been used of each resource by the time each score was known.

Invariant: `used` grows from attempt to attempt. Scores are selection scores of valid attempts, in the order made; an
attempt without a score is left out, but what it used is in the amounts of those after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from rsibench.analysis.arrays import Floats


class Resource(StrEnum):
    """What an anytime curve is drawn over."""

    USD = "dollars"
    HOURS = "hours"
    TOKENS = "training tokens"
    ATTEMPTS = "attempts"


@dataclass(frozen=True, eq=False)
class Course:
    """`scores` (attempts,); `used` (attempts,) of each resource, cumulative; `total` is what the whole run used."""

    base: float
    scores: Floats
    used: dict[Resource, Floats]
    total: dict[Resource, float]

    def __post_init__(self) -> None:
        for resource, amounts in self.used.items():
            if len(amounts) != len(self.scores):
                raise ValueError(f"{resource}: {len(amounts)} amounts for {len(self.scores)} attempts")
            if np.any(np.diff(amounts) < 0) or (len(amounts) and amounts[-1] > self.total[resource] * (1 + 1e-9)):
                raise ValueError(f"{resource}: cumulative amounts fall, or exceed the run's total")

    @property
    def first_peak(self) -> int | None:
        """Index of the attempt that first reached the best score; None without attempts."""
        return int(np.argmax(self.scores)) if len(self.scores) else None

    def spent_after_peak(self, resource: Resource) -> float | None:
        """How much was used after the attempt that first reached the best score was known; None without attempts."""
        peak = self.first_peak
        return None if peak is None else max(0.0, self.total[resource] - float(self.used[resource][peak]))

    def selection_regret(self, selected: int | None) -> float:
        """Best selection score less that of what was selected (`None`: base), never below 0 for a best choice.

        In selection scores, which are too high for the best of several; `optimism` holds corrections.
        """
        chosen = self.base if selected is None else float(self.scores[selected])
        best = max(self.base, float(self.scores.max())) if len(self.scores) else self.base
        return best - chosen
