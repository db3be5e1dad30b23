"""Harbor's job folders and RSIGym's job records, read into frames with verdicts of our own.

Harbor's means are never used: they take a missing reward for 0 and keep exit code 0 when every trial broke. Here a
reward of exactly 1 passes and of exactly 0 fails, if the student was asked at all; everything else is a trial that
does not count. An imported job is one run whose only checkpoint is official; it has no base and no attempts, and its
protocol digest is that of the job's own settings, so it is ranked with nothing else by accident.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from rsibench.analysis.frames.schema import COSTS, TRIALS, Frames, frame
from rsibench.errors import SpecError
from rsibench.ids import sha256_bytes
from rsibench.outcomes import TRIAL_RULES, TrialOutcome
from rsibench.spec.frozen import canonical_json

REWARD = "reward"
_MOST_FILE_BYTES = 64_000_000
_TIMEOUT = "AgentTimeoutError"
_OFFICIAL = "official"
_IMPORTED = "imported"


class ImportedTrial(NamedTuple):
    """One attempted trial."""

    task: str
    trial: str
    outcome: TrialOutcome
    prompt_tokens: int
    output_tokens: int
    usd: float


class ImportedJob(NamedTuple):
    """A job: what was run, under which settings, and its trials."""

    name: str
    agent: str
    dataset: str
    settings: object
    started: datetime
    trials: tuple[ImportedTrial, ...]


def read_harbor_job(folder: Path) -> ImportedJob:
    """A Harbor job folder: every trial folder with a `result.json`. Raises SpecError when there is none."""
    results = [_load(file) for file in sorted(folder.glob("*/result.json"))]
    if not results:
        fix = "name the folder of one job, which holds a folder with result.json a trial"
        raise SpecError("there is no finished Harbor trial in it", where=str(folder), fix=fix)
    config = _load(folder / "config.json") if (folder / "config.json").is_file() else {}
    first = results[0]
    started = min((_when(one.get("started_at")) for one in results), default=_when(None))
    return ImportedJob(
        name=folder.resolve().name,
        agent=_agent(first.get("agent_info") or {}),
        dataset=str(first.get("source") or "adhoc"),
        settings={"config": _comparable(config), "tasks": sorted(str(one.get("task_checksum")) for one in results)},
        started=started,
        trials=tuple(_trial(one) for one in results),
    )


def read_rsigym_job(file: Path) -> Iterator[ImportedJob]:
    """RSIGym's job record (`job.json`): the caller's settings and Harbor's own summary; one job an evaluation in it.

    The summary names trials by reward and by exception; tokens and dollars of single trials are not in it.
    """
    record = _load(file)
    result = record.get("result") or {}
    evals = (result.get("stats") or {}).get("evals") or {}
    if not evals:
        state = record.get("status") or "unknown"
        fix = "import it when the job has succeeded"
        raise SpecError(f"the record holds no evaluation (its status is {state})", where=str(file), fix=fix)
    for key, stats in evals.items():
        agent, _, dataset = str(key).rpartition("__")
        yield ImportedJob(
            name=f"{record.get('job_id') or file.stem}-{dataset}".lower(),
            agent=agent or "unknown",
            dataset=dataset,
            settings={"config": record.get("config"), "evaluation": key},
            started=_when(record.get("started_at") or record.get("created_at")),
            trials=tuple(_summarised(stats)),
        )


def job_frames(jobs: Sequence[ImportedJob]) -> Frames:
    """Jobs as frames: one sealed run each, with its trials."""
    runs, costs, trials = [], [], []
    for job in jobs:
        counted = [one for one in job.trials if TRIAL_RULES[one.outcome].counts]
        passed = sum(one.outcome is TrialOutcome.PASS for one in counted)
        usd = sum(one.usd for one in job.trials)
        runs.append(
            {
                "run_id": job.name,
                "profile": job.dataset,
                "profile_version": _IMPORTED,
                "variant": _IMPORTED,
                "protocol_digest": sha256_bytes(canonical_json(job.settings)),
                "researcher": job.agent,
                "seed": 0,
                "isolation": _IMPORTED,
                "planned_at": job.started,
                "phase": "sealed",
                "sealed": True,
                "labels": [_IMPORTED],
                "attempts": 0,
                "scored_attempts": 0,
                "refused_submissions": 0,
                "replicated_submissions": 0,
                "incidents": [],
                "official": passed / len(counted) if counted else None,
                "official_coverage": len(counted) / len(job.trials),
                "official_items": len({one.task for one in job.trials}),
                "usd": usd,
                "budget_usd": 0.0,
                "total_seconds": 0.0,
                "shadow_prices": False,
            }
        )
        costs.append({"run_id": job.name, "account": "researcher_usd", "limit": None, "spent": usd})
        trials.append(_trial_rows(job))
    empty: list[dict[str, Any]] = []
    return Frames(
        frame("runs", runs),
        frame("attempts", empty),
        pl.concat(trials) if trials else pl.DataFrame(schema=TRIALS),
        frame("costs", costs) if costs else pl.DataFrame(schema=COSTS),
    )


def _trial_rows(job: ImportedJob) -> pl.DataFrame:
    decodes: dict[str, int] = {}
    rows = []
    for one in sorted(job.trials, key=lambda trial: (trial.task, trial.trial)):
        decode = decodes.get(one.task, 0)
        decodes[one.task] = decode + 1
        rows.append(
            {
                "run_id": job.name,
                "split": _OFFICIAL,
                "attempt": 0,
                "item_id": one.task,
                "family": job.dataset,
                "template": "",
                "decode": decode,
                "outcome": one.outcome.value,
                "passed": one.outcome is TrialOutcome.PASS,
                "counts": TRIAL_RULES[one.outcome].counts,
                "finish_reason": None,
                "prompt_tokens": one.prompt_tokens,
                "output_tokens": one.output_tokens,
            }
        )
    return frame("trials", rows)


def _trial(result: dict[str, Any]) -> ImportedTrial:
    agent = result.get("agent_result") or {}
    rewards = (result.get("verifier_result") or {}).get("rewards") or {}
    exception = (result.get("exception_info") or {}).get("exception_type")
    output = int(agent.get("n_output_tokens") or 0)
    asked = output > 0 if agent.get("n_output_tokens") is not None else exception is None
    return ImportedTrial(
        task=str(result.get("task_name") or "unknown"),
        trial=str(result.get("trial_name") or ""),
        outcome=_outcome(rewards.get(REWARD) if set(rewards) == {REWARD} else None, exception, asked=asked),
        prompt_tokens=int(agent.get("n_input_tokens") or 0),
        output_tokens=output,
        usd=float(agent.get("cost_usd") or 0.0),
    )


def _outcome(reward: object, exception: str | None, *, asked: bool) -> TrialOutcome:
    """A timed-out agent may have solved the task and counts if the student answered at all; a broken one never does."""
    if isinstance(reward, bool) or not isinstance(reward, int | float) or reward not in (0, 1):
        return TrialOutcome.INFRA_ERROR if reward is None or exception else TrialOutcome.INVALID
    if exception not in (None, _TIMEOUT) or not asked:
        return TrialOutcome.INFRA_ERROR
    if reward == 1:
        return TrialOutcome.PASS
    return TrialOutcome.AGENT_TIMEOUT if exception == _TIMEOUT else TrialOutcome.FAIL


def _summarised(stats: dict[str, Any]) -> Iterator[ImportedTrial]:
    """Trials of a summary: the name before `__` is the task's."""
    by_reward = (stats.get("reward_stats") or {}).get(REWARD) or {}
    broken = {str(name): kind for kind, names in (stats.get("exception_stats") or {}).items() for name in names}
    seen = set()
    for text, names in by_reward.items():
        for name in map(str, names):
            seen.add(name)
            outcome = _outcome(_number(text), broken.get(name), asked=True)
            yield ImportedTrial(name.rpartition("__")[0] or name, name, outcome, 0, 0, 0.0)
    for name in broken.keys() - seen:
        yield ImportedTrial(name.rpartition("__")[0] or name, name, TrialOutcome.INFRA_ERROR, 0, 0, 0.0)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _agent(info: dict[str, Any]) -> str:
    model = (info.get("model_info") or {}).get("name")
    name = str(info.get("name") or "unknown")
    return f"{name}__{model}" if model else name


def _comparable(config: dict[str, Any]) -> dict[str, Any]:
    """Settings without what differs between two runs of the same job: its name, folder and concurrency."""
    return {key: value for key, value in config.items() if key not in ("job_name", "jobs_dir", "n_concurrent_trials")}


def _when(text: object) -> datetime:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _load(file: Path) -> dict[str, Any]:
    """A JSON object of a file. Raises SpecError for anything else."""
    try:
        if file.stat().st_size > _MOST_FILE_BYTES:
            raise SpecError(
                "the file is too large for a record", where=str(file), fix="import the job's folder instead"
            )
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(f"cannot be read: {error}", where=str(file), fix="restore the file, or leave it out") from error
    if not isinstance(data, dict):
        raise SpecError("a JSON object is expected", where=str(file), fix="restore the file, or leave it out")
    return data
