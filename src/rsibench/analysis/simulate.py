"""Simulated runs: researchers of set skill, noise, drift and stopping on profiles of set size, many at once.

Measurement: a share `icc` of a split's tasks gives one verdict for good, drawn once a run and shared by its attempts
and base; the rest are coin flips at the attempt's true rate. The score then has exactly the variance
p (1 - p) (1 + (k - 1) icc) / (n k) of n tasks with k decodes, and attempts of a run share the tasks' luck. Official
tasks are others than those of selection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np

from rsibench.analysis.arrays import Bools, Floats, Ints
from rsibench.analysis.attempt_scores import AttemptScores
from rsibench.analysis.researcher_model import (
    DrawnAttempts,
    FixedAttempts,
    Patience,
    ProfileModel,
    ResearcherModel,
    Stopping,
    TargetGain,
    longest,
)

_CHUNK_RUNS = 50_000


@dataclass(frozen=True, eq=False)
class SimulatedRuns:
    """`attempts` holds the selection scores of (runs, longest); all else is (runs,). `selected` is -1 for base."""

    attempts: AttemptScores
    base_selection: Floats
    selected: Ints
    true_base: float
    true_selected: Floats
    best_true: Floats
    """The best true score among the attempts made, and base where the researcher may keep it."""
    base_official: Floats
    official: Floats


def simulate(researcher: ResearcherModel, profile: ProfileModel, runs: int, seed: int) -> SimulatedRuns:
    """`runs` independent runs; the same seed gives the same runs. Memory: about 8 bytes an attempt."""
    rng = np.random.default_rng(seed)
    sizes = [min(_CHUNK_RUNS, runs - start) for start in range(0, runs, _CHUNK_RUNS)]
    return _joined([_chunk(researcher, profile, size, rng) for size in sizes], profile.base)


def _chunk(researcher: ResearcherModel, profile: ProfileModel, runs: int, rng: np.random.Generator) -> SimulatedRuns:
    width = longest(researcher.stopping)
    true = np.empty((runs, width + 1))
    true[:, 0] = profile.base
    trend = profile.base + researcher.skill + researcher.drift * np.arange(width)
    true[:, 1:] = trend if researcher.noise == 0 else trend + researcher.noise * rng.standard_normal((runs, width))
    np.clip(true, 0.0, 1.0, out=true)
    measured = _measure(true, profile.selection_tasks, profile, rng)
    base, scores = measured[:, 0], measured[:, 1:]
    lengths = _lengths(researcher.stopping, scores, base, rng)
    unmade = np.arange(width) >= lengths[:, None]
    scores[unmade] = -np.inf
    true[:, 1:][unmade] = -np.inf
    selected = scores.argmax(axis=1)
    rows = np.arange(runs)
    if researcher.keeps_base:
        selected = np.where(scores[rows, selected] > base, selected, -1)
    else:
        true[:, 0] = -np.inf
    best_true = true.max(axis=1)
    true[:, 0] = profile.base
    chosen = true[rows, selected + 1]
    official = _measure(np.stack([true[:, 0], chosen], axis=1), profile.official_tasks, profile, rng)
    official[:, 1] = np.where(selected < 0, official[:, 0], official[:, 1])
    attempts = AttemptScores(scores, lengths)
    return SimulatedRuns(attempts, base, selected, profile.base, chosen, best_true, official[:, 0], official[:, 1])


def _measure(true: Floats, tasks: int, profile: ProfileModel, rng: np.random.Generator) -> Floats:
    """(runs, columns) measured scores of true rates; columns of a run meet the same tasks."""
    trials = tasks * profile.decodes
    live = max(1, round(trials * (1 - profile.icc)))
    passed = rng.binomial(live, true).astype(np.float64)
    fixed = trials - live
    if fixed:
        luck = rng.standard_normal((len(true), 1))
        rounding = rng.random((len(true), 1))
        spread = np.sqrt(true * (1 - true) * fixed * profile.decodes)
        passed += np.floor(np.clip(fixed * true + luck * spread, 0, fixed) + rounding).clip(0, fixed)
    passed /= trials
    return passed


def _lengths(stopping: Stopping, scores: Floats, base: Floats, rng: np.random.Generator) -> Ints:
    runs, width = scores.shape
    match stopping:
        case FixedAttempts():
            return np.full(runs, width, dtype=np.int64)
        case DrawnAttempts():
            weights = np.array(stopping.weights)
            drawn: Ints = rng.choice(np.arange(1, width + 1), size=runs, p=weights / weights.sum())
            return drawn
        case Patience():
            return _first(_out_of_patience(scores, stopping.without_best))
        case TargetGain():
            return _first(scores >= (base + stopping.gain)[:, None])
        case _:
            assert_never(stopping)


def _out_of_patience(scores: Floats, without_best: int) -> Bools:
    best = np.maximum.accumulate(scores, axis=1)
    fresh = np.ones(scores.shape, dtype=np.bool_)
    fresh[:, 1:] = scores[:, 1:] > best[:, :-1]
    columns = np.arange(scores.shape[1])
    since = np.maximum.accumulate(np.where(fresh, columns, 0), axis=1)
    waited: Bools = columns - since >= without_best
    return waited


def _first(stops: Bools) -> Ints:
    """(runs,): number of attempts up to and with the first at which the run stops, all of them where it never does."""
    width = stops.shape[1]
    return np.where(stops.any(axis=1), stops.argmax(axis=1) + 1, width).astype(np.int64)


def _joined(chunks: list[SimulatedRuns], base: float) -> SimulatedRuns:
    def column(name: str) -> Floats:
        return np.concatenate([getattr(chunk, name) for chunk in chunks])

    attempts = AttemptScores(
        np.concatenate([chunk.attempts.scores for chunk in chunks]),
        np.concatenate([chunk.attempts.lengths for chunk in chunks]),
    )
    return SimulatedRuns(
        attempts=attempts,
        base_selection=column("base_selection"),
        selected=np.concatenate([chunk.selected for chunk in chunks]),
        true_base=base,
        true_selected=column("true_selected"),
        best_true=column("best_true"),
        base_official=column("base_official"),
        official=column("official"),
    )
