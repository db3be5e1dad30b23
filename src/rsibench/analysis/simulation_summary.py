"""What a simulated researcher would show on average: true and apparent gains, process rates, and what selection
adds.
"""

from __future__ import annotations

import numpy as np

from rsibench.analysis.attempt_scores import process_marks
from rsibench.analysis.process_rates import ProcessRate, count
from rsibench.analysis.simulate import SimulatedRuns
from rsibench.spec.frozen import Frozen


class SimulationSummary(Frozen):
    """Means over runs; all are shares, gains are against base. Rates are None where no run can show them."""

    runs: int
    mean_attempts: float
    true_gain: float
    """Of the selected checkpoint, what no one can see."""
    official_gain: float
    apparent_gain: float
    """Selection score of the selected checkpoint less base's."""
    optimism: float
    """Selection score of the selected checkpoint less its true score."""
    regret: float
    """Best true score among the attempts less that of the selected one."""
    official_gain_spread: float
    """Standard deviation between runs."""
    probability_of_gain: float
    """That the official score of the selected is above base's."""
    probability_of_harm: float
    discovery: float | None
    regression: float | None
    recovery: float | None


def summarise(simulated: SimulatedRuns) -> SimulationSummary:
    """The summary of simulated runs."""
    attempts = simulated.attempts
    runs = len(attempts.lengths)
    rows = np.arange(runs)
    kept = simulated.selected < 0
    selection = np.where(kept, simulated.base_selection, attempts.scores[rows, np.maximum(simulated.selected, 0)])
    gains = simulated.official - simulated.base_official
    marks = process_marks(attempts)
    return SimulationSummary(
        runs=runs,
        mean_attempts=float(attempts.lengths.mean()),
        true_gain=float(simulated.true_selected.mean() - simulated.true_base),
        official_gain=float(gains.mean()),
        apparent_gain=float((selection - simulated.base_selection).mean()),
        optimism=float((selection - simulated.true_selected).mean()),
        regret=float((simulated.best_true - simulated.true_selected).mean()),
        official_gain_spread=float(gains.std()),
        probability_of_gain=float((gains > 0).mean()),
        probability_of_harm=float((gains < 0).mean()),
        discovery=count(marks, ProcessRate.DISCOVERY).rate,
        regression=count(marks, ProcessRate.REGRESSION).rate,
        recovery=count(marks, ProcessRate.RECOVERY).rate,
    )
