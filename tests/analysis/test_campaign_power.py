"""Power of a campaign against simulation and against its own special case; what is needed is really enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsibench.analysis.campaign_power import (
    CampaignDesign,
    campaign_power,
    difference_error,
    seeds_needed,
    smallest_difference,
    tasks_needed,
)
from rsibench.analysis.power import Design, power

DESIGNS = st.builds(
    CampaignDesign,
    st.integers(20, 500),
    st.integers(1, 4),
    st.integers(1, 6),
    st.floats(0, 0.8),
    st.floats(0, 1),
    st.floats(0, 0.1),
)
RATES = st.floats(0.05, 0.8)


def test_without_spread_between_runs_seeds_are_decodes() -> None:
    design = CampaignDesign(tasks=100, decodes=2, seeds=3, icc=0.4, shared=0.5, run_sd=0.0)
    expected = power(0.3, 0.4, Design(tasks=100, decodes=6, icc=0.4, shared=0.5))
    assert campaign_power(0.3, 0.4, design) == pytest.approx(expected)


def test_the_error_is_the_one_that_simulated_campaigns_have() -> None:
    """Tasks with a share of fixed verdicts, half of it common to both researchers; true scores vary between runs."""
    design = CampaignDesign(tasks=120, decodes=2, seeds=3, icc=0.4, shared=0.5, run_sd=0.04)
    rng = np.random.default_rng(5)
    rate, campaigns = 0.4, 4000
    # A verdict follows its task or a coin; a task's verdict is the common one or the researcher's own. Two verdicts
    # agree by design only when both follow, hence the roots.
    follows, alike = np.sqrt(design.icc), np.sqrt(design.shared)
    common = rng.random((campaigns, design.tasks)) < rate
    means = []
    for _ in range(2):
        own = rng.random((campaigns, design.tasks)) < rate
        task = np.where(rng.random((campaigns, design.tasks)) < alike, common, own)
        runs = []
        for _ in range(design.seeds):
            shape = (campaigns, design.tasks, design.decodes)
            luck = rng.random(shape) < rate
            verdict = np.where(rng.random(shape) < follows, task[:, :, None], luck)
            runs.append(verdict.mean(axis=(1, 2)) + design.run_sd * rng.standard_normal(campaigns))
        means.append(np.mean(runs, axis=0))
    found = float(np.std(means[0] - means[1]))
    assert found == pytest.approx(difference_error(rate, rate, design), rel=0.05)


@given(design=DESIGNS, rate=RATES)
def test_the_smallest_difference_has_the_wanted_power(design: CampaignDesign, rate: float) -> None:
    step = smallest_difference(rate, design)
    if step is None:
        return
    other = rate + step if rate <= 1 - rate else rate - step
    assert campaign_power(rate, other, design) == pytest.approx(0.8, abs=0.01)


@given(design=DESIGNS, rate=RATES, difference=st.floats(0.02, 0.2))
def test_needed_seeds_and_tasks_are_the_fewest_that_are_enough(
    design: CampaignDesign, rate: float, difference: float
) -> None:
    other = rate + difference
    seeds = seeds_needed(rate, difference, design)
    tasks = tasks_needed(rate, difference, design)
    if seeds is not None:
        assert campaign_power(rate, other, design._replace(seeds=seeds)) >= 0.8
        assert seeds == 1 or campaign_power(rate, other, design._replace(seeds=seeds - 1)) < 0.8
    if tasks is not None:
        assert campaign_power(rate, other, design._replace(tasks=tasks)) >= 0.8
        assert tasks == 1 or campaign_power(rate, other, design._replace(tasks=tasks - 1)) < 0.8


def test_no_number_of_seeds_makes_up_for_too_few_tasks() -> None:
    few = CampaignDesign(tasks=20, decodes=1, seeds=1, icc=0.5, shared=0.0, run_sd=0.0)
    assert seeds_needed(0.5, 0.1, few) is None
    assert tasks_needed(0.5, 0.1, few) is not None


def test_no_number_of_tasks_makes_up_for_runs_that_differ() -> None:
    wild = CampaignDesign(tasks=100, decodes=1, seeds=1, icc=0.5, shared=0.5, run_sd=0.1)
    assert tasks_needed(0.5, 0.1, wild) is None
    assert seeds_needed(0.5, 0.1, wild) is not None
