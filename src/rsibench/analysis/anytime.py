"""Anytime curves: the best selection score so far as a function of what was used, and the area under it.

The curve starts at base, because base can be selected for nothing, and steps up when an attempt's score is known. Being
a maximum of measured scores it is optimistic, the more so the more attempts; a control with the same number of attempts
shows by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rsibench.analysis.arrays import Floats
from rsibench.analysis.bootstrap import DRAWS
from rsibench.analysis.course import Course, Resource
from rsibench.analysis.interval import CONFIDENCE, Interval

POINTS = 201


class AnytimeCurve(NamedTuple):
    """(points,) each: amounts used, mean best score so far over runs, and its interval over runs."""

    amounts: Floats
    mean: Floats
    low: Floats
    high: Floats
    runs: int


def best_so_far(course: Course, resource: Resource, amounts: Floats) -> Floats:
    """(points,): the best score known once so much was used; base before the first attempt's score."""
    steps = np.concatenate([[course.base], np.maximum.accumulate(np.maximum(course.scores, course.base))])
    known: Floats = steps[np.searchsorted(course.used[resource], amounts, side="right")]
    return known


def area(course: Course, resource: Resource, limit: float) -> float:
    """Mean gain over base of the best score so far while `limit` of the resource is used; a share.

    The exact area under the step curve from 0 to `limit` divided by `limit`. 0 for a run that never beat base.
    """
    if limit <= 0:
        raise ValueError(f"an area needs a positive limit, not {limit}")
    edges = np.clip(np.concatenate([[0.0], course.used[resource], [limit]]), 0, limit)
    steps = np.concatenate([[course.base], np.maximum.accumulate(np.maximum(course.scores, course.base))])
    return float(((steps - course.base) * np.diff(edges)).sum() / limit)


def anytime_curve(
    courses: Sequence[Course],
    resource: Resource,
    limit: float,
    rng: np.random.Generator,
    points: int = POINTS,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
) -> AnytimeCurve:
    """Mean over runs with a pointwise bootstrap band over runs. A run that ended early keeps its last value."""
    if not courses:
        raise ValueError("a curve needs at least one run")
    amounts = np.linspace(0, limit, points)
    values = np.stack([best_so_far(course, resource, amounts) for course in courses])
    weights = rng.multinomial(len(courses), np.full(len(courses), 1 / len(courses)), size=draws) / len(courses)
    tail = (1 - confidence) / 2
    low, high = np.quantile(weights @ values, [tail, 1 - tail], axis=0)
    return AnytimeCurve(amounts, values.mean(axis=0), low, high, len(courses))


def mean_area(areas: Floats, rng: np.random.Generator, draws: int = DRAWS, confidence: float = CONFIDENCE) -> Interval:
    """Bootstrap interval over runs of the mean of their areas (runs,); no width for a single run."""
    weights = rng.multinomial(len(areas), np.full(len(areas), 1 / len(areas)), size=draws) / len(areas)
    tail = (1 - confidence) / 2
    low, high = np.quantile(weights @ areas, [tail, 1 - tail])
    return Interval(float(low), float(high))
