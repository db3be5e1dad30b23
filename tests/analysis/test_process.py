"""Process rates of attempt sequences and their nulls."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsibench.analysis.attempt_scores import AttemptScores, process_marks
from rsibench.analysis.equal_skill import RunSizes, equal_skill_marks, equal_skill_null
from rsibench.analysis.null_comparison import two_sided
from rsibench.analysis.order_null import order_null, shuffled_marks
from rsibench.analysis.process_rates import CountOf, ProcessRate, count, counts

RUNS = [
    [0.1, 0.3, 0.2],  # discovered, went on, ended below the peak
    [0.4, 0.2, 0.4],  # never improved, went on, got back
    [0.1, 0.2],  # discovered, stopped at the peak
    [0.5],  # one attempt: nothing to show
    [0.5, 0.5, 0.1],  # never improved, ended below the peak
]


def test_rates_by_hand() -> None:
    marks = process_marks(AttemptScores.of(RUNS))
    assert count(marks, ProcessRate.DISCOVERY) == (2, 4)
    assert count(marks, ProcessRate.NEVER_IMPROVED) == (2, 4)
    assert count(marks, ProcessRate.REGRESSION) == (2, 3)
    assert count(marks, ProcessRate.RECOVERY) == (1, 3)
    assert count(marks, ProcessRate.PERSISTENCE) == (3, 5)


@pytest.mark.parametrize("runs", [[], [[]], [[0.1, float("nan")]]])
def test_runs_without_scores_are_refused(runs: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"at least one valid attempt|without a score"):
        AttemptScores.of(runs)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_shuffled_marks_are_those_of_all_permutations(scores: list[int]) -> None:
    every = process_marks(AttemptScores.of(list(permutations(scores))))
    drawn = shuffled_marks(AttemptScores.of([scores]), np.random.default_rng(1), 4_000)
    for name in ("discovered", "went_on", "regressed", "recovered"):
        expected = float(getattr(every, name).mean())
        assert float(getattr(drawn, name).mean()) == pytest.approx(expected, abs=0.04)


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=1, max_size=8))
def test_marks_are_consistent(runs: list[list[int]]) -> None:
    marks = process_marks(AttemptScores.of(runs))
    for place, run in enumerate(runs):
        assert marks.discovered[place] == any(score > run[0] for score in run[1:])
        assert marks.went_on[place] == (run.index(max(run)) < len(run) - 1)
        assert marks.went_on[place] == (marks.regressed[place] or marks.recovered[place])
        assert marks.regressed[place] == (run[-1] < max(run))


def test_steady_climbs_are_not_chance() -> None:
    climbing = AttemptScores.of([[0.1, 0.2, 0.3, 0.4]] * 20)
    found = order_null(climbing, ProcessRate.DISCOVERY, np.random.default_rng(2))
    assert found.observed.rate == 1.0
    assert found.expected == pytest.approx(0.75, abs=0.01)
    assert found.excess == pytest.approx(0.25, abs=0.01)
    assert found.p_value < 0.02


def test_a_rate_nobody_can_show_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        order_null(AttemptScores.of([[0.1], [0.2]]), ProcessRate.DISCOVERY, np.random.default_rng(3))


def test_equal_skill_without_ties_is_one_minus_one_over_t() -> None:
    sizes = RunSizes(np.array([0.5]), np.array([1_000_000]), np.array([1]), np.array([5]))
    marks = equal_skill_marks(sizes, 0.0, np.random.default_rng(4), 20_000)
    assert float(counts(marks, ProcessRate.DISCOVERY).rates().mean()) == pytest.approx(0.8, abs=0.01)
    assert float(marks.regressed.mean()) == pytest.approx(0.8, abs=0.01)


def test_equal_skill_of_two_coin_flips_by_hand() -> None:
    sizes = RunSizes(np.array([0.5]), np.array([1]), np.array([1]), np.array([2]))
    marks = equal_skill_marks(sizes, 0.0, np.random.default_rng(5), 40_000)
    assert float(marks.discovered.mean()) == pytest.approx(0.25, abs=0.01)  # only 0 then 1
    assert float(marks.regressed.mean()) == pytest.approx(0.25, abs=0.01)  # only 1 then 0
    assert float(marks.recovered.mean()) == pytest.approx(0.5, abs=0.01)  # a tie


def test_fixed_verdicts_make_ties() -> None:
    sizes = RunSizes(*(np.array([value]) for value in (0.5, 100, 1, 4)))
    loose, tied = (equal_skill_marks(sizes, icc, np.random.default_rng(6), 8_000) for icc in (0.0, 0.9))
    assert float(tied.discovered.mean()) < float(loose.discovered.mean()) - 0.05


def test_equal_skill_null_names_its_assumption() -> None:
    sizes = RunSizes(np.full(24, 0.4), np.full(24, 100), np.full(24, 1), np.full(24, 4))
    found = equal_skill_null(CountOf(24, 24), ProcessRate.DISCOVERY, sizes, 0.5, np.random.default_rng(7))
    assert "0.5" in found.null
    assert found.null_range.low < found.expected < found.null_range.high < 1.0
    assert found.p_value < 0.01


def test_two_sided_p_of_a_known_null() -> None:
    null = np.repeat(np.arange(5), [1, 4, 6, 4, 1]) / 4.0  # four fair flips
    assert two_sided(0.5, null) == pytest.approx(1.0, abs=0.1)
    many = np.tile(null, 1_000)
    assert two_sided(1.0, many) == pytest.approx(1 / 16, abs=0.001)  # mid-p: 2 * (1/16) / 2
