"""Pass rates: method, standard error, effective trials, bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rsibench.analysis.bootstrap import bootstrap_interval, bootstrap_means, expanded_tail
from rsibench.analysis.pass_rate import RateMethod, clustered_standard_error, effective_trials, pass_rate
from rsibench.analysis.proportion import wilson
from rsibench.analysis.task_counts import TaskCounts


def test_single_decodes_get_the_wilson_interval() -> None:
    found = pass_rate(TaskCounts.of([1] * 46 + [0] * 54, 1), np.random.default_rng(1))
    assert found.method is RateMethod.WILSON
    assert found.rate == pytest.approx(0.46)
    assert found.interval == pytest.approx(wilson(46, 100))
    assert (found.tasks, found.trials) == (100, 100)


def test_standard_error_is_that_of_a_mean_of_task_rates() -> None:
    passed = np.random.default_rng(2).binomial(4, 0.4, size=30)
    assert clustered_standard_error(TaskCounts.of(passed, 4)) == pytest.approx(stats.sem(passed / 4))


def test_decodes_that_never_differ_count_once() -> None:
    same = TaskCounts.of([4] * 100 + [0] * 300, 4)
    assert effective_trials(same) == pytest.approx(400, rel=0.02)
    assert pass_rate(same, np.random.default_rng(3)).method is RateMethod.WILSON_EFFECTIVE


def test_independent_decodes_count_almost_all() -> None:
    passed = np.random.default_rng(4).binomial(4, 0.5, size=4_000)
    assert effective_trials(TaskCounts.of(passed, 4)) == pytest.approx(16_000, rel=0.06)


def test_no_spread_between_tasks_is_not_certainty() -> None:
    found = pass_rate(TaskCounts.of([0] * 20, 4), np.random.default_rng(5))
    assert found.interval == pytest.approx(wilson(0, 20))


def test_tasks_without_counted_decodes_are_left_out() -> None:
    found = pass_rate(TaskCounts.of([1, 0, 0], [1, 1, 0]), np.random.default_rng(6))
    assert (found.rate, found.tasks) == (0.5, 2)
    with pytest.raises(ValueError, match="no trial counts"):
        pass_rate(TaskCounts.of([0], [0]), np.random.default_rng(6))


def test_bootstrap_resamples_like_scipy() -> None:
    values = np.random.default_rng(7).binomial(4, 0.3, size=60) / 4
    level = 1 - 2 * expanded_tail(len(values))
    theirs = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=20_000,
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(8),
    ).confidence_interval
    ours = bootstrap_interval(values, np.random.default_rng(9), draws=20_000)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.005)


def test_bootstrap_spread_is_that_of_the_sample() -> None:
    values = np.array([0.0] * 5 + [0.25] * 5 + [1.0] * 10)
    means = bootstrap_means(values, 40_000, np.random.default_rng(10))
    assert means.mean() == pytest.approx(values.mean(), abs=0.003)
    assert means.std() == pytest.approx(values.std() / np.sqrt(20), rel=0.02)
