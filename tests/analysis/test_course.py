"""Courses, anytime curves and areas: hand-made cases, and integration by many small steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsibench.analysis.anytime import anytime_curve, area, best_so_far, mean_area
from rsibench.analysis.course import Course, Resource

SHARES = st.floats(0, 1, allow_nan=False)


def _course(base: float, scores: list[float], used: list[float], total: float | None = None) -> Course:
    amounts = np.array(used, dtype=np.float64)
    whole = total if total is not None else (used[-1] if used else 0.0)
    return Course(base, np.array(scores, dtype=np.float64), {Resource.USD: amounts}, {Resource.USD: whole})


@st.composite
def courses(draw: st.DrawFn) -> Course:
    count = draw(st.integers(0, 6))
    scores = draw(st.lists(SHARES, min_size=count, max_size=count))
    steps = draw(st.lists(st.floats(0.01, 3), min_size=count, max_size=count))
    used = np.cumsum(steps).tolist()
    return _course(draw(SHARES), scores, used, (used[-1] if used else 0.0) + draw(st.floats(0, 2)))


def test_a_run_by_hand() -> None:
    course = _course(0.2, [0.1, 0.5, 0.3, 0.5], [1, 2, 4, 6], total=8)
    assert course.first_peak == 1
    assert course.spent_after_peak(Resource.USD) == 6
    assert course.selection_regret(2) == pytest.approx(0.2)
    assert course.selection_regret(None) == pytest.approx(0.3)
    assert course.selection_regret(3) == 0
    assert best_so_far(course, Resource.USD, np.array([0, 1.5, 2, 7])).tolist() == [0.2, 0.2, 0.5, 0.5]
    # 0.3 above base from dollar 2 to dollar 10 of 10
    assert area(course, Resource.USD, 10) == pytest.approx(0.24)


def test_a_run_without_attempts_has_no_peak_and_no_area() -> None:
    course = _course(0.4, [], [])
    assert course.first_peak is None
    assert course.spent_after_peak(Resource.USD) is None
    assert course.selection_regret(None) == 0
    assert area(course, Resource.USD, 5) == 0


@given(course=courses(), limit=st.floats(0.5, 12))
def test_area_is_the_integral_of_the_curve(course: Course, limit: float) -> None:
    steps = 40_000
    middles = (np.arange(steps) + 0.5) * limit / steps
    integral = float((best_so_far(course, Resource.USD, middles) - course.base).mean())
    assert area(course, Resource.USD, limit) == pytest.approx(integral, abs=1e-3)


@given(course=courses(), at=st.lists(st.floats(0, 20), min_size=2, max_size=20))
def test_the_curve_never_falls_and_never_lies_below_base(course: Course, at: list[float]) -> None:
    values = best_so_far(course, Resource.USD, np.array(sorted(at)))
    assert np.all(np.diff(values) >= 0)
    assert np.all(values >= course.base)


def test_amounts_that_fall_or_exceed_the_total_are_refused() -> None:
    with pytest.raises(ValueError, match="fall"):
        _course(0.1, [0.2, 0.3], [2, 1])
    with pytest.raises(ValueError, match="exceed"):
        _course(0.1, [0.2], [2], total=1)
    with pytest.raises(ValueError, match="2 amounts for 1 attempts"):
        _course(0.1, [0.2], [1, 2])


def test_the_band_holds_the_mean_and_one_run_has_no_width() -> None:
    rng = np.random.default_rng(1)
    many = [_course(0.2, [0.2 + 0.02 * k], [1.0 + 0.1 * k]) for k in range(12)]
    curve = anytime_curve(many, Resource.USD, 3.0, rng, points=31, draws=2_000)
    assert np.all(curve.low <= curve.mean + 1e-12)
    assert np.all(curve.mean <= curve.high + 1e-12)
    assert curve.runs == 12
    single = anytime_curve(many[:1], Resource.USD, 3.0, rng, points=31, draws=50)
    assert np.allclose(single.low, single.high)
    areas = np.array([area(one, Resource.USD, 3.0) for one in many])
    assert mean_area(areas, rng).holds(float(areas.mean()))
