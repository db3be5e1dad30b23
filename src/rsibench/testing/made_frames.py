"""Frames of made-up runs of any number, for tests and benchmarks of what reads frames. Nothing in them is a result."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import polars as pl

from rsibench.analysis.arrays import Bools, Floats
from rsibench.analysis.frames.schema import TRIALS, Frames, frame

_PLANNED = datetime(2030, 1, 1, tzinfo=UTC)
_BUDGET_USD = 1.0


class MadeResearcher(NamedTuple):
    """True scores: base + skill for the first attempt, `drift` more for each later one, `noise` between attempts."""

    name: str
    skill: float = 0.0
    drift: float = 0.0
    noise: float = 0.03
    attempts: int = 4


def made_frames(
    researchers: list[MadeResearcher],
    *,
    seeds: int,
    tasks: int = 100,
    base: float = 0.3,
    seed: int = 0,
    profile: str = "made",
    digest: str = "d" * 64,
) -> Frames:
    """Sealed runs of every researcher with so many seeds, each selecting its best attempt. Verdicts add up."""
    rng = np.random.default_rng(seed)
    hard = rng.beta(base, 1 - base, size=(2, tasks))  # selection and official tasks; variance share one half
    base_verdicts = rng.random((2, tasks)) < hard
    runs, attempts, costs, trials = [], [], [], []
    for who in researchers:
        for number in range(seeds):
            run_id = f"{profile}-{who.name}-{number:05d}"
            trend = who.skill + who.drift * np.arange(who.attempts)
            shift = (trend + who.noise * rng.standard_normal(who.attempts))[:, None]
            verdicts = rng.random((who.attempts, tasks)) < np.clip(hard[0] + shift, 0, 1)
            scores = verdicts.mean(axis=1)
            chosen = int(scores.argmax())
            official = rng.random(tasks) < np.clip(hard[1] + shift[chosen], 0, 1)
            trials.append(_trials(run_id, "selection", 0, base_verdicts[0]))
            trials.append(_trials(run_id, "official", 0, base_verdicts[1]))
            trials += [_trials(run_id, "selection", place + 1, row) for place, row in enumerate(verdicts)]
            trials.append(_trials(run_id, "official", chosen + 1, official))
            usd = _BUDGET_USD / who.attempts * rng.uniform(0.5, 0.9)
            attempts += [_attempt(run_id, place, verdicts[place], chosen, usd) for place in range(who.attempts)]
            facts = {"run_id": run_id, "seed": number, "profile": profile, "protocol_digest": digest}
            runs.append(facts | _run(who, base_verdicts, scores, official, usd))
            spent = usd * who.attempts
            costs.append({"run_id": run_id, "account": "training_usd", "limit": _BUDGET_USD, "spent": spent})
    return Frames(frame("runs", runs), frame("attempts", attempts), pl.concat(trials), frame("costs", costs))


def joined(*parts: Frames) -> Frames:
    """Several sets of runs as one."""
    return Frames(*(pl.concat(list(tables)) for tables in zip(*parts, strict=True)))


def _trials(run_id: str, split: str, attempt: int, verdicts: Bools) -> pl.DataFrame:
    count = len(verdicts)
    outcomes = np.where(verdicts, "pass", "fail")
    columns = {
        "run_id": [run_id] * count,
        "split": [split] * count,
        "attempt": [attempt] * count,
        "item_id": [f"{split}-{place:05d}" for place in range(count)],
        "family": ["made"] * count,
        "template": ["made"] * count,
        "decode": [0] * count,
        "outcome": outcomes.tolist(),
        "passed": verdicts.tolist(),
        "counts": [True] * count,
        "finish_reason": ["stop"] * count,
        "prompt_tokens": [10] * count,
        "output_tokens": [10] * count,
    }
    return pl.DataFrame(columns, schema=TRIALS)


def _attempt(run_id: str, place: int, verdicts: Bools, chosen: int, usd: float) -> dict[str, object]:
    return {
        "run_id": run_id,
        "attempt": place + 1,
        "stage": "scored",
        "selected": place == chosen,
        "rows": 100,
        "train_tokens": 1000,
        "learning_rate": 0.001,
        "epochs": 1,
        "lora_rank": 16,
        "delta_norm": 2.0,
        "near_noop": False,
        "score": float(verdicts.mean()),
        "passed": int(verdicts.sum()),
        "counted": len(verdicts),
        "total": len(verdicts),
        "usd": usd,
        "usd_before": usd * place,
        "usd_known": usd * (place + 1),
        "tokens_known": 1000 * (place + 1),
        "seconds_known": 60.0 * (place + 1),
    }


def _run(who: MadeResearcher, base: Bools, scores: Floats, official: Bools, usd: float) -> dict[str, object]:
    pair = official.astype(float) - base[1]
    chosen = int(scores.argmax())
    half = 1.96 * float(pair.std(ddof=1)) / len(pair) ** 0.5
    mean = float(pair.mean())
    return {
        "profile_version": "1",
        "variant": "full",
        "researcher": who.name,
        "isolation": "unisolated",
        "planned_at": _PLANNED,
        "phase": "sealed",
        "sealed": True,
        "labels": [],
        "attempts": who.attempts,
        "scored_attempts": who.attempts,
        "refused_submissions": 0,
        "replicated_submissions": 0,
        "incidents": [],
        "selected_attempt": chosen + 1,
        "closed_because": "researcher",
        "base_selection": float(base[0].mean()),
        "selected_selection": float(scores[chosen]),
        "base_official": float(base[1].mean()),
        "official": float(official.mean()),
        "official_coverage": 1.0,
        "difference": mean,
        "difference_low": mean - half,
        "difference_high": mean + half,
        "difference_p": 0.5,
        "official_items": len(pair),
        "usd": usd * who.attempts,
        "budget_usd": _BUDGET_USD,
        "research_seconds": 60.0 * who.attempts,
        "total_seconds": 60.0 * who.attempts + 30,
        "budget_seconds": 3600.0,
        "shadow_prices": True,
    }
