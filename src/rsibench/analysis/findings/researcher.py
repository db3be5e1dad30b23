"""One researcher's findings under one protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rsibench.analysis.anytime import anytime_curve, area, mean_area
from rsibench.analysis.arrays import Floats
from rsibench.analysis.attempt_scores import AttemptScores, process_marks
from rsibench.analysis.course import Course, Resource
from rsibench.analysis.crossed import crossed_difference
from rsibench.analysis.equal_skill import RunSizes, equal_skill_marks, equal_skill_name
from rsibench.analysis.findings.records import (
    CurvePoint,
    Estimate,
    NullFinding,
    ProcessFinding,
    ReliabilityFinding,
    ResearcherFindings,
    RunFinding,
)
from rsibench.analysis.findings.task_shares import TaskShares, complete
from rsibench.analysis.gain_per_dollar import gain_per_dollar
from rsibench.analysis.null_comparison import NullComparison, compare
from rsibench.analysis.optimism import split_corrected
from rsibench.analysis.order_null import order_null
from rsibench.analysis.process_rates import ProcessRate, count, counts
from rsibench.analysis.reliability import reliability

CROSSED = "tasks and runs crossed, Satterthwaite"
_SECONDS_PER_HOUR = 3600
_CURVE_POINTS = 41
_MOST_SPLITS = 100_000
_NULL_CELLS = 4_000_000
_RATES = (ProcessRate.DISCOVERY, ProcessRate.REGRESSION, ProcessRate.RECOVERY, ProcessRate.NEVER_IMPROVED)


class Recorded(NamedTuple):
    """One sealed run's rows: the run, and its scored attempts in order."""

    run: dict[str, Any]
    attempts: list[dict[str, Any]]


class Tables(NamedTuple):
    """What one protocol's findings are made from. `limits` are those of one run."""

    runs: pl.DataFrame
    recorded: dict[str, list[Recorded]]
    """Sealed runs by researcher and seed."""
    selection: TaskShares
    official: TaskShares
    limits: dict[Resource, float]
    icc: float
    decodes: int


def recorded_runs(runs: pl.DataFrame, attempts: pl.DataFrame) -> dict[str, list[Recorded]]:
    """Sealed runs by researcher, in the order of their seeds; a researcher without one has an empty list."""
    by_run: dict[str, list[dict[str, Any]]] = {}
    for row in attempts.filter(pl.col("score").is_not_null()).sort("run_id", "attempt").iter_rows(named=True):
        by_run.setdefault(row["run_id"], []).append(row)
    found: dict[str, list[Recorded]] = {name: [] for name in runs["researcher"].unique().sort()}
    for run in runs.filter(pl.col("sealed")).sort("seed", "run_id").iter_rows(named=True):
        found[run["researcher"]].append(Recorded(run, by_run.get(run["run_id"], [])))
    return found


def official_rows(tables: Tables, runs: list[Recorded]) -> tuple[Floats, Floats] | None:
    """Base's and the selected checkpoints' shares, (runs, tasks) each, over the tasks that all have.

    None where there is nothing to compare, as in imported runs, which have no base.
    """
    bases, chosen = [], []
    for one in runs:
        base = tables.official.row(one.run["run_id"], 0)
        selected = one.run["selected_attempt"]
        after = base if selected is None else tables.official.row(one.run["run_id"], selected)
        if base is not None and after is not None and one.run["base_official"] is not None:
            bases.append(base)
            chosen.append(after)
    if not bases:
        return None
    before, after_all = np.stack(bases), np.stack(chosen)
    known = complete(before, after_all)
    return (before[:, known], after_all[:, known]) if known.sum() >= 2 else None


def course(one: Recorded, *, total_usd: float) -> Course:
    """A run's course over every resource; the official evaluation is part of no attempt and is left out."""
    used = {
        Resource.USD: _column(one, "usd_known"),
        Resource.HOURS: _column(one, "seconds_known") / _SECONDS_PER_HOUR,
        Resource.TOKENS: _column(one, "tokens_known"),
        Resource.ATTEMPTS: _column(one, "attempt"),
    }
    total = {resource: float(amounts[-1]) if len(amounts) else 0.0 for resource, amounts in used.items()}
    total[Resource.USD] = max(total_usd, total[Resource.USD])
    return Course(one.run["base_selection"] or 0.0, _column(one, "score"), used, total)


def _column(one: Recorded, name: str) -> Floats:
    """(attempts,): one figure of the scored attempts."""
    return np.array([row[name] for row in one.attempts], dtype=np.float64)


def researcher_findings(tables: Tables, researcher: str, rng: np.random.Generator) -> ResearcherFindings:
    """Everything about one researcher."""
    mine = tables.runs.filter(pl.col("researcher") == researcher)
    runs = tables.recorded[researcher]
    known = [one for one in runs if one.run["base_selection"] is not None]
    attempts_usd = {one.run["run_id"]: sum(row["usd"] for row in one.attempts) for one in runs}
    courses = [course(one, total_usd=attempts_usd[one.run["run_id"]]) for one in known]
    tried = [(one, way) for one, way in zip(known, courses, strict=True) if len(way.scores)]
    rows = official_rows(tables, runs)
    after_peak = [way.spent_after_peak(Resource.USD) or 0.0 for _, way in tried]
    all_usd = sum(way.total[Resource.USD] for _, way in tried)
    incidents = Counter(name for names in mine["incidents"] for name in names)
    return ResearcherFindings(
        researcher=researcher,
        runs=tuple(_run(one) for one in runs),
        open_runs=mine.height - len(runs),
        attempts=int(mine["attempts"].sum()),
        refused_submissions=int(mine["refused_submissions"].sum()),
        official=_mean([one.run["official"] for one in runs]) if rows is None else float(rows[1].mean()),
        gain=None if rows is None else _gain(*rows),
        reliability=_reliability(runs),
        process=_process(tables, known, rng),
        over_first=_over_first(tables, tried),
        selection=_mean([one.run["selected_selection"] for one in runs]),
        corrected=_corrected(tables, known, rng),
        gap=_gap(runs),
        regret=_mean([way.selection_regret(_place(one)) for one, way in zip(known, courses, strict=True)]),
        usd=_mean(mine["usd"].to_list()) or 0.0,
        hours=(_mean(mine["total_seconds"].to_list()) or 0.0) / _SECONDS_PER_HOUR,
        usd_after_peak=_mean(after_peak),
        share_after_peak=sum(after_peak) / all_usd if all_usd > 0 else None,
        gain_per_usd=_per_dollar(runs),
        areas={
            resource.value: _area(courses, resource, limit, rng) for resource, limit in tables.limits.items() if courses
        },
        curve=_curve(courses, tables.limits.get(Resource.USD, 0.0), rng),
        kept_base=sum(one.run["selected_attempt"] is None for one in runs),
        near_noop=sum("near-no-op" in one.run["labels"] for one in runs),
        incidents=dict(sorted(incidents.items())),
    )


def _run(one: Recorded) -> RunFinding:
    run = one.run
    return RunFinding(
        run_id=run["run_id"],
        seed=run["seed"],
        attempts=run["attempts"],
        selected_attempt=run["selected_attempt"],
        official=run["official"],
        difference=run["difference"],
        difference_low=run["difference_low"],
        difference_high=run["difference_high"],
        usd=run["usd"],
        hours=run["total_seconds"] / _SECONDS_PER_HOUR,
        labels=tuple(run["labels"]),
        incidents=len(run["incidents"]),
    )


def _place(one: Recorded) -> int | None:
    """Where the selected attempt stands among the scored ones; None for base."""
    selected = one.run["selected_attempt"]
    return next((place for place, row in enumerate(one.attempts) if row["attempt"] == selected), None)


def _gain(base: Floats, selected: Floats) -> Estimate:
    """Base is one checkpoint, measured once a protocol: its row is the same in every run."""
    found = crossed_difference(base[:1], selected)
    return Estimate(
        value=found.difference,
        low=found.interval.low,
        high=found.interval.high,
        p_value=found.p_value,
        of=found.tasks,
        unit="tasks",
        method=f"{CROSSED}, {len(selected)} runs",
    )


def _reliability(runs: list[Recorded]) -> ReliabilityFinding | None:
    known = [one.run for one in runs if one.run["difference"] is not None]
    if not known:
        return None
    columns = ([run[name] for run in known] for name in ("difference", "difference_low", "difference_high"))
    found = reliability(*(np.array(column, dtype=np.float64) for column in columns))
    return ReliabilityFinding(
        runs=found.runs,
        gain=found.gain,
        gain_low=found.gain_interval.low,
        gain_high=found.gain_interval.high,
        harm=found.harm,
        harm_low=found.harm_interval.low,
        harm_high=found.harm_interval.high,
        clear_gain=found.clear_gain,
        clear_harm=found.clear_harm,
        worst=found.worst,
        best=found.best,
        spread=found.spread,
    )


def _process(tables: Tables, runs: list[Recorded], rng: np.random.Generator) -> tuple[ProcessFinding, ...]:
    """Process rates beside two nulls: random order of the same scores, and attempts of equal skill."""
    tried = [one for one in runs if one.attempts]
    if not tried:
        return ()
    attempts = AttemptScores.of([[row["score"] for row in one.attempts] for one in tried])
    sizes = RunSizes(
        rates=np.array([float(np.mean([row["score"] for row in one.attempts])) for one in tried]),
        tasks=np.full(len(tried), max(1, len(tables.selection.tasks)), dtype=np.int64),
        decodes=np.full(len(tried), tables.decodes, dtype=np.int64),
        lengths=attempts.lengths,
    )
    draws = max(200, min(5_000, _NULL_CELLS // int(attempts.scores.size)))
    marks = process_marks(attempts)
    equal = equal_skill_marks(sizes, tables.icc, rng, draws)  # the same draws serve every rate
    findings = []
    for rate in _RATES:
        observed = count(marks, rate)
        nulls: list[NullComparison] = []
        if observed.of:
            nulls.append(order_null(attempts, rate, rng, draws))
            nulls.append(compare(rate, observed, counts(equal, rate).rates(), equal_skill_name(tables.icc)))
        findings.append(
            ProcessFinding(
                rate=rate.value,
                events=observed.events,
                of=observed.of,
                nulls=tuple(
                    NullFinding(
                        null=null.null,
                        expected=null.expected,
                        low=null.null_range.low,
                        high=null.null_range.high,
                        excess=null.excess,
                        p_value=null.p_value,
                    )
                    for null in nulls
                ),
            )
        )
    return tuple(findings)


def _corrected(tables: Tables, runs: list[Recorded], rng: np.random.Generator) -> float | None:
    """Mean selection score of the best attempt with the luck of the choice taken out by random halves of the tasks."""
    splits = max(20, min(1_000, _MOST_SPLITS // max(1, len(runs))))
    found = []
    for one in runs:
        rows = [tables.selection.row(one.run["run_id"], row["attempt"]) for row in one.attempts]
        shares = np.stack([row for row in rows if row is not None]) if any(row is not None for row in rows) else None
        if shares is None:
            continue
        shares = shares[:, complete(shares)]
        if shares.shape[1] >= 2:
            found.append(split_corrected(shares, rng, splits).corrected)
    return _mean(found)


def _gap(runs: list[Recorded]) -> Estimate | None:
    gaps = np.array(
        [
            one.run["selected_selection"] - one.run["official"]
            for one in runs
            if one.run["selected_selection"] is not None and one.run["official"] is not None
        ]
    )
    if len(gaps) == 0:
        return None
    return Estimate(
        value=float(gaps.mean()), low=None, high=None, of=len(gaps), unit="runs", method="mean, different tasks"
    )


def _per_dollar(runs: list[Recorded]) -> Estimate | None:
    known = [one.run for one in runs if one.run["difference"] is not None]
    if not known:
        return None
    found = gain_per_dollar(
        np.array([run["difference"] for run in known], dtype=np.float64),
        np.array([run["usd"] for run in known], dtype=np.float64),
    )
    if found.ratio is None:
        return None
    low, high = found.interval if found.interval is not None else (None, None)
    return Estimate(value=found.ratio, low=low, high=high, of=found.runs, unit="runs", method="ratio of means, Fieller")


def _over_first(tables: Tables, tried: list[tuple[Recorded, Course]]) -> Estimate | None:
    """Selected less first valid attempt, paired by task within each run; runs that kept base count with base."""
    firsts, chosen = [], []
    for one, _ in tried:
        run_id = one.run["run_id"]
        first = tables.selection.row(run_id, one.attempts[0]["attempt"])
        selected = tables.selection.row(run_id, one.run["selected_attempt"] or 0)
        if first is not None and selected is not None:
            firsts.append(first)
            chosen.append(selected)
    if not firsts:
        return None
    differences = np.stack(chosen) - np.stack(firsts)
    differences = differences[:, complete(differences)]
    if differences.shape[1] < 2:
        return None
    found = crossed_difference(np.zeros((1, differences.shape[1])), differences)
    return Estimate(
        value=found.difference,
        low=found.interval.low,
        high=found.interval.high,
        p_value=found.p_value,
        of=found.tasks,
        unit="tasks",
        method=f"{CROSSED}, {len(differences)} runs",
    )


def _area(courses: list[Course], resource: Resource, limit: float, rng: np.random.Generator) -> Estimate:
    areas = np.array([area(one, resource, limit) for one in courses])
    interval = mean_area(areas, rng, draws=2_000)
    alone = len(areas) == 1
    return Estimate(
        value=float(areas.mean()),
        low=None if alone else interval.low,
        high=None if alone else interval.high,
        of=len(areas),
        unit="runs",
        method="bootstrap over runs",
    )


def _curve(courses: list[Course], budget_usd: float, rng: np.random.Generator) -> tuple[CurvePoint, ...]:
    if not courses or budget_usd <= 0:
        return ()
    draws = max(200, min(2_000, _NULL_CELLS // len(courses)))
    curve = anytime_curve(courses, Resource.USD, budget_usd, rng, points=_CURVE_POINTS, draws=draws)
    columns = (curve.amounts, curve.mean, curve.low, curve.high)
    return tuple(
        CurvePoint(usd=usd, mean=mean, low=low, high=high)
        for usd, mean, low, high in zip(*(column.tolist() for column in columns), strict=True)
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
