"""Power and detectable differences."""

from __future__ import annotations

import numpy as np
import pytest

from rsibench.analysis.power import (
    Design,
    design_effect,
    detectable_difference,
    power,
    rate_variance,
    typical_detectable_difference,
)


def test_a_hundred_tasks_detect_sixteen_to_twenty_points() -> None:
    found = [typical_detectable_difference(rate, Design(100)) for rate in (0.2, 0.3, 0.4, 0.5)]
    assert min(found) == pytest.approx(0.158, abs=0.002)
    assert max(found) == pytest.approx(0.198, abs=0.002)


def test_power_agrees_with_simulated_tests() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.binomial(200, 0.3, 40_000) / 200, rng.binomial(200, 0.42, 40_000) / 200
    error = np.sqrt(one * (1 - one) / 200 + two * (1 - two) / 200)
    rejected = float((np.abs(two - one) > 1.959964 * error).mean())
    assert power(0.3, 0.42, Design(200)) == pytest.approx(rejected, abs=0.015)


@pytest.mark.parametrize("upwards", [True, False])
def test_the_detectable_difference_has_the_power_asked_for(upwards: bool) -> None:
    design = Design(tasks=89, decodes=2, icc=0.4, shared=0.5)
    step = detectable_difference(0.4, design, wanted=0.9, upwards=upwards)
    assert step is not None
    assert power(0.4, 0.4 + step if upwards else 0.4 - step, design) == pytest.approx(0.9, abs=1e-4)


def test_no_power_where_nothing_differs_and_none_where_there_is_no_room() -> None:
    assert power(0.3, 0.3, Design(50)) == pytest.approx(0.05)
    assert detectable_difference(0.97, Design(20)) is None
    assert detectable_difference(1.0, Design(20)) is None


def test_decodes_of_one_task_help_only_as_far_as_they_differ() -> None:
    assert design_effect(4, 1.0) == 4
    assert rate_variance(0.3, Design(50, 4, 1.0)) == pytest.approx(rate_variance(0.3, Design(50, 1)))
    assert rate_variance(0.3, Design(50, 4, 0.0)) == pytest.approx(rate_variance(0.3, Design(200, 1)))


def test_the_same_tasks_make_comparisons_sharper() -> None:
    apart, shared = (typical_detectable_difference(0.4, Design(100, 1, 0.5, shared)) for shared in (0.0, 1.0))
    assert shared == pytest.approx(apart * np.sqrt(0.5))
