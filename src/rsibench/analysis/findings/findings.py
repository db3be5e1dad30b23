"""Findings of any set of runs: by protocol, because only runs of one protocol may be compared, then over profiles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from rsibench.analysis.aggregate import (
    RSI_INDEX_VERSION,
    Aggregate,
    interquartile_mean,
    probability_of_improvement,
    rsi_index,
    with_interval,
)
from rsibench.analysis.arrays import Floats
from rsibench.analysis.campaign_power import CampaignDesign, smallest_difference
from rsibench.analysis.course import Resource
from rsibench.analysis.crossed import CrossedDifference, crossed_difference
from rsibench.analysis.findings.records import (
    AggregateFinding,
    Estimate,
    Findings,
    FrontierFinding,
    PairFinding,
    ProtocolFindings,
    RankFinding,
    ResearcherFindings,
    RuleFinding,
)
from rsibench.analysis.findings.researcher import (
    CROSSED,
    Tables,
    recorded_runs,
    researcher_findings,
)
from rsibench.analysis.findings.task_shares import TaskShares, complete
from rsibench.analysis.frames.schema import Frames
from rsibench.analysis.frontier import HYPERVOLUME_VERSION, Priced, hypervolume, pareto_front
from rsibench.analysis.rank_sets import rank
from rsibench.analysis.what_if import STANDARD_RULES, replay
from rsibench.analysis.what_if_names import rule_name
from rsibench.spec.item import Split
from rsibench.units import Account

ASSUMED_ICC = 0.5
"""Between-task share of a verdict's variance in the equal-skill null and in detectable differences."""
ASSUMED_SHARED = 0.5
_REPLAYED_SPLITS = 40_000
_SECONDS_PER_HOUR = 3600


def findings(frames: Frames, title: str, *, seed: int = 0) -> Findings:
    """What the runs show. Deterministic for a seed; raises ValueError for frames without runs."""
    if frames.runs.height == 0:
        raise ValueError("there are no runs to say anything about")
    digests = frames.runs.sort("profile", "variant", "protocol_digest")["protocol_digest"].unique(maintain_order=True)
    protocols = tuple(_protocol(frames, str(digest), np.random.default_rng([seed, 1])) for digest in digests)
    return Findings(
        title=title,
        runs=frames.runs.height,
        sealed=int(frames.runs["sealed"].sum()),
        protocols=protocols,
        aggregates=_aggregates(protocols, np.random.default_rng([seed, 2])),
        seed=seed,
    )


def _protocol(frames: Frames, digest: str, rng: np.random.Generator) -> ProtocolFindings:
    runs = frames.runs.filter(pl.col("protocol_digest") == digest).sort("researcher", "seed", "run_id")
    mine = runs["run_id"].implode()
    attempts = frames.attempts.filter(pl.col("run_id").is_in(mine))
    trials = frames.trials.filter(pl.col("run_id").cast(pl.String).is_in(mine))
    first = runs.row(0, named=True)
    decodes = int(trials.select(pl.col("decode").max() + 1).item()) if trials.height else 1
    tables = Tables(
        runs,
        recorded_runs(runs, attempts),
        TaskShares.of(trials, Split.SELECTION.value),
        TaskShares.of(trials, Split.OFFICIAL.value),
        _limits(first, attempts, frames.costs.filter(pl.col("run_id").is_in(mine))),
        ASSUMED_ICC,
        decodes,
    )
    names = list(tables.recorded)
    found = tuple(researcher_findings(tables, name, rng) for name in names)
    pairs, ranks = _compared(tables, names)
    known = runs.drop_nulls("base_official")
    base = known["base_official"][0] if known.height else None
    return ProtocolFindings(
        protocol_digest=digest,
        profile=first["profile"],
        profile_version=first["profile_version"],
        variant=first["variant"],
        selection_tasks=len(tables.selection.tasks),
        official_tasks=len(tables.official.tasks),
        base_official=base,
        base_selection=first["base_selection"],
        budget_usd=first["budget_usd"],
        limits={resource.value: limit for resource, limit in tables.limits.items()},
        shadow_prices=first["shadow_prices"],
        researchers=found,
        pairs=pairs,
        ranks=ranks,
        detectable=_detectable(tables, found),
        rules=_rules(tables, names, rng),
        frontier=_frontier(found, base, first["budget_usd"]),
        hypervolume_version=HYPERVOLUME_VERSION,
    )


def _limits(run: dict[str, Any], attempts: pl.DataFrame, costs: pl.DataFrame) -> dict[Resource, float]:
    """What areas are taken over; a resource without a limit, or of which nothing was used, is left out."""
    allowed = costs.filter(pl.col("account") == Account.ATTEMPTS.value)["limit"].drop_nulls()
    found = {
        Resource.USD: run["budget_usd"],
        Resource.HOURS: (run["budget_seconds"] or 0.0) / _SECONDS_PER_HOUR,
        Resource.TOKENS: max(attempts["tokens_known"].drop_nulls().to_list(), default=0),
        Resource.ATTEMPTS: max(allowed.to_list(), default=0),
    }
    return {resource: float(limit) for resource, limit in found.items() if limit > 0}


def _compared(tables: Tables, names: list[str]) -> tuple[tuple[PairFinding, ...], tuple[RankFinding, ...]]:
    """All pairs of researchers with official scores, corrected together, and the ranks they leave open."""
    whole = {name: _whole(tables, name) for name in names}
    shares = {name: found for name, found in whole.items() if found is not None}
    entries = list(shares)
    if len(entries) < 2:
        return (), ()
    compared: dict[tuple[int, int], CrossedDifference] = {}
    for one, two in combinations(range(len(entries)), 2):
        compared[(one, two)] = _crossed(shares[entries[two]], shares[entries[one]])
    scores = [float(np.nanmean(shares[name])) for name in entries]
    ranking = rank(entries, scores, lambda one, two: compared[(min(one, two), max(one, two))].p_value)
    adjusted = {frozenset((pair.better, pair.worse)): pair for pair in ranking.pairs}
    pairs = []
    for (one, two), found in compared.items():
        pair = adjusted[frozenset((entries[one], entries[two]))]
        runs = f"{len(shares[entries[one]])} and {len(shares[entries[two]])} runs"
        pairs.append(
            PairFinding(
                first=entries[one],
                second=entries[two],
                difference=Estimate(
                    value=found.difference,
                    low=found.interval.low,
                    high=found.interval.high,
                    p_value=found.p_value,
                    of=found.tasks,
                    unit="tasks",
                    method=f"{CROSSED}, {runs}",
                ),
                adjusted_p=pair.adjusted_p,
                separable=pair.separable,
                improvement=probability_of_improvement(
                    [np.nanmean(shares[entries[two]], axis=1)], [np.nanmean(shares[entries[one]], axis=1)]
                ),
            )
        )
    ranks = tuple(RankFinding(researcher=r.name, score=r.score, best=r.best, worst=r.worst) for r in ranking.sets)
    return tuple(sorted(pairs, key=lambda pair: (pair.adjusted_p, pair.first, pair.second))), ranks


def _whole(tables: Tables, name: str) -> Floats | None:
    """(runs, tasks): the selected checkpoints' official shares, over every task of the protocol; None without any."""
    rows = []
    for one in tables.recorded[name]:
        row = tables.official.row(one.run["run_id"], one.run["selected_attempt"] or 0)
        if row is not None:
            rows.append(row)
    return np.stack(rows) if rows else None


def _crossed(first: Floats, second: Floats) -> CrossedDifference:
    """`second` less `first` over the tasks that every run of both has."""
    known = complete(first, second)
    return crossed_difference(first[:, known], second[:, known])


def _detectable(tables: Tables, found: Sequence[ResearcherFindings]) -> float | None:
    """At the typical score, number of runs and spread between runs of these researchers."""
    known = [one for one in found if one.official is not None and len(one.runs) > 1]
    if not known or len(tables.official.tasks) < 2:
        return None
    spreads = [one.reliability.spread for one in known if one.reliability and one.reliability.spread is not None]
    design = CampaignDesign(
        tasks=len(tables.official.tasks),
        decodes=tables.decodes,
        seeds=min(len(one.runs) for one in known),
        icc=ASSUMED_ICC,
        shared=ASSUMED_SHARED,
        run_sd=float(np.median(spreads)) if spreads else 0.0,
    )
    return smallest_difference(float(np.mean([one.official for one in known if one.official is not None])), design)


def _rules(tables: Tables, names: list[str], rng: np.random.Generator) -> tuple[RuleFinding, ...]:
    """Every standard rule over every run with two attempts or more."""
    runs = [one for name in names for one in tables.recorded[name] if len(one.attempts) > 1]
    replays = []
    splits = max(10, min(400, _REPLAYED_SPLITS // max(1, len(runs))))
    for one in runs:
        base = tables.selection.row(one.run["run_id"], 0)
        rows = [tables.selection.row(one.run["run_id"], row["attempt"]) for row in one.attempts]
        if base is None or any(row is None for row in rows):
            continue
        shares = np.stack([row for row in rows if row is not None])
        known = complete(shares, base[None, :])
        if known.sum() < 4:
            continue
        spent = np.array([row["usd_known"] for row in one.attempts], dtype=np.float64)
        replays.append(replay(shares[:, known], base[known], spent, STANDARD_RULES, rng, splits))
    if not replays:
        return ()
    return tuple(
        RuleFinding(
            rule=rule_name(rule),
            gain=float(np.mean([one[place].gain for one in replays])),
            regret=float(np.mean([one[place].regret for one in replays])),
            attempts=float(np.mean([one[place].attempts for one in replays])),
            share_spent=float(np.mean([one[place].share_spent for one in replays])),
            kept_base=float(np.mean([one[place].kept_base for one in replays])),
            runs=len(replays),
        )
        for place, rule in enumerate(STANDARD_RULES)
    )


def _frontier(
    found: Sequence[ResearcherFindings], base: float | None, budget_usd: float
) -> tuple[FrontierFinding, ...]:
    points = [Priced(one.researcher, one.usd, one.official) for one in found if one.official is not None]
    front = {point.name for point in pareto_front(points)}
    allowed = base is not None and base < 1 and budget_usd > 0
    return tuple(
        FrontierFinding(
            researcher=point.name,
            usd=point.usd,
            score=point.score,
            on_front=point.name in front,
            hypervolume=hypervolume([point], base, budget_usd) if allowed and base is not None else None,
        )
        for point in sorted(points, key=lambda one: one.usd)
    )


def _aggregates(protocols: Sequence[ProtocolFindings], rng: np.random.Generator) -> tuple[AggregateFinding, ...]:
    """Researchers that have runs on more than one profile, each profile once (its full variant)."""
    full = [one for one in protocols if one.variant == "full" and one.base_official is not None]
    if len({one.profile for one in full}) < 2 or len({one.profile for one in full}) < len(full):
        return ()
    names = sorted({one.researcher for protocol in full for one in protocol.researchers})
    made = []
    for name in names:
        finals, initials, profiles = [], [], []
        for protocol in full:
            mine = next((one for one in protocol.researchers if one.researcher == name), None)
            scores = [run.official for run in mine.runs if run.official is not None] if mine else []
            if scores and protocol.base_official is not None and protocol.base_official < 1:
                finals.append(np.array(scores))
                initials.append(protocol.base_official)
                profiles.append(protocol.profile)
        if len(profiles) > 1:
            made.append(_aggregate(name, tuple(profiles), finals, initials, rng))
    return tuple(made)


def _aggregate(
    name: str, profiles: tuple[str, ...], finals: list[Floats], initials: list[float], rng: np.random.Generator
) -> AggregateFinding:
    index = with_interval(lambda runs: rsi_index(runs, initials), finals, rng)
    middle = with_interval(interquartile_mean, finals, rng)
    return AggregateFinding(
        researcher=name,
        profiles=profiles,
        rsi_index=_estimate(index),
        interquartile_mean=_estimate(middle),
        rsi_index_version=RSI_INDEX_VERSION,
    )


def _estimate(found: Aggregate) -> Estimate:
    return Estimate(
        value=found.value,
        low=found.interval.low,
        high=found.interval.high,
        of=found.runs,
        unit="runs",
        method="stratified bootstrap over runs",
    )
