"""A run's evaluations as Inspect logs (`.eval`): one file a checkpoint and split, a sample a trial.

Written by hand because Inspect itself cannot be installed beside this program's pinned libraries; the layout is that of
log version 2 (a zip of `header.json`, `summaries.json` and `samples/*.json`). Expected answers stay out unless they are
asked for: a log travels further than a run's folder.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rsibench.errors import EnvironmentFault
from rsibench.outcomes import TRIAL_RULES, FinishReason, TrialOutcome
from rsibench.run.record import RunRecord
from rsibench.spec.item import Item, Split, Trial
from rsibench.version import __version__

LOG_VERSION = 2
SCORER = "verdict"
_VALUES = {True: "C", False: "I"}


class Evaluation(NamedTuple):
    """One checkpoint on one split. Attempt 0 is the base student."""

    split: Split
    attempt: int
    items: Sequence[Item]
    trials: Sequence[Trial]

    @property
    def name(self) -> str:
        """Its part in a file name."""
        who = "base" if self.attempt == 0 else f"attempt-{self.attempt}"
        return f"{self.split.value}-{who}"


def evaluations(record: RunRecord) -> Iterator[Evaluation]:
    """Every evaluation of a sealed run."""
    yield Evaluation(Split.SELECTION, 0, record.selection_items, record.base_selection_trials)
    for attempt, trials in record.attempt_trials.items():
        yield Evaluation(Split.SELECTION, attempt, record.selection_items, trials)
    yield Evaluation(Split.OFFICIAL, 0, record.official_items, record.base_official_trials)
    selected = record.result.selected_attempt
    if selected is not None:
        yield Evaluation(Split.OFFICIAL, selected, record.official_items, record.selected_official_trials)


def write_logs(record: RunRecord, folder: Path, *, answers: bool = False) -> list[Path]:
    """Writes one log an evaluation; `answers` adds the items' expected answers. Raises EnvironmentFault."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_write(record, one, folder / f"{one.name}.eval", answers=answers) for one in evaluations(record)]
    except OSError as error:
        fix = "choose a folder that can be written"
        raise EnvironmentFault(f"cannot be written: {error.strerror}", where=str(folder), fix=fix) from error


def _write(record: RunRecord, one: Evaluation, path: Path, *, answers: bool) -> Path:
    items = {item.item_id: item for item in one.items}
    samples = [_sample(record, trial, items[trial.item_id], answers=answers) for trial in one.trials]
    header = _header(record, one, samples)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        start = {"version": LOG_VERSION, "eval": header["eval"], "plan": header["plan"]}
        archive.writestr("_journal/start.json", _json(start))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", _json(sample))
        summaries = [_summary(sample) for sample in samples]
        archive.writestr("_journal/summaries/1.json", _json(summaries))
        archive.writestr("summaries.json", _json(summaries))
        archive.writestr("header.json", _json(header))
    return path


def _header(record: RunRecord, one: Evaluation, samples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    protocol, run = record.lock.protocol, record.lock.run
    model = f"rsibench/{protocol.student.name}" + (f"+attempt-{one.attempt}" if one.attempt else "")
    ids = sorted({str(sample["id"]) for sample in samples})
    counted = [trial for trial in one.trials if TRIAL_RULES[trial.verdict.outcome].counts]
    passed = sum(trial.verdict.outcome is TrialOutcome.PASS for trial in counted)
    made = run.planned_at.isoformat()
    return {
        "version": LOG_VERSION,
        "status": "success",
        "eval": {
            "eval_id": f"{run.run_id}-{one.name}",
            "run_id": run.run_id,
            "created": made,
            "task": f"rsibench/{protocol.profile}-{one.split.value}",
            "task_id": f"{run.run_id}-{one.name}",
            "task_version": protocol.profile_version,
            "task_attribs": {},
            "task_args": {"protocol_digest": record.lock.protocol_digest, "variant": protocol.variant},
            "task_args_passed": {},
            "solver_args_passed": {},
            "dataset": {"name": protocol.profile, "samples": len(ids), "sample_ids": ids, "shuffled": False},
            "model": model,
            "model_generate_config": {
                "temperature": protocol.decoding.temperature,
                "max_tokens": protocol.decoding.max_new_tokens,
            },
            "model_args": {},
            "config": {"epochs": protocol.decoding.decodes},
            "packages": {"rsibench-data": __version__},
            "metadata": {
                "researcher": run.researcher,
                "seed": run.seed,
                "attempt": one.attempt,
                "labels": list(record.result.labels),
            },
        },
        "plan": {"name": "rsibench", "steps": [], "config": {}},
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(samples),
            "scores": [
                {
                    "name": SCORER,
                    "scorer": SCORER,
                    "scored_samples": len(counted),
                    "unscored_samples": len(samples) - len(counted),
                    "params": {},
                    "metrics": {
                        "accuracy": {
                            "name": "accuracy",
                            "value": passed / len(counted) if counted else 0.0,
                            "params": {},
                        }
                    },
                }
            ],
        },
        "stats": {"started_at": made, "completed_at": made, "model_usage": {model: _usage(one.trials)}},
        "invalidated": False,
        "tags": [],
        "metadata": {},
    }


def _sample(record: RunRecord, trial: Trial, item: Item, *, answers: bool) -> dict[str, Any]:
    system = record.lock.protocol.system_prompt
    asked = [{"role": "system", "content": system}] if system is not None else []
    asked.append({"role": "user", "content": item.prompt})
    reply = {"role": "assistant", "content": trial.output, "source": "generate"}
    stop = "max_tokens" if trial.finish_reason is FinishReason.LENGTH else "stop"
    model = record.lock.protocol.student.name
    sample: dict[str, Any] = {
        "id": trial.item_id.replace("/", "-"),
        "epoch": trial.decode + 1,
        "input": asked,
        "target": json.dumps(item.expected, ensure_ascii=False) if answers else "",
        "messages": [*asked, reply],
        "output": {
            "model": model,
            "choices": [{"message": reply, "stop_reason": stop}],
            "completion": trial.output,
            "usage": _usage([trial]),
        },
        "scores": _scores(trial),
        "metadata": {
            "family": trial.family,
            "template": trial.template,
            "outcome": trial.verdict.outcome.value,
            "item_digest": trial.item_digest,
        },
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    }
    if not TRIAL_RULES[trial.verdict.outcome].counts:
        text = f"{trial.verdict.outcome.value}: {trial.verdict.reason}"
        sample["error"] = {"message": text, "traceback": "", "traceback_ansi": ""}
    return sample


def _scores(trial: Trial) -> dict[str, Any]:
    """A trial that does not count has no score, so that nothing can take it for a wrong answer."""
    verdict = trial.verdict
    if not TRIAL_RULES[verdict.outcome].counts:
        return {}
    value = _VALUES[verdict.outcome is TrialOutcome.PASS]
    return {SCORER: {"value": value, "answer": verdict.extracted or "", "explanation": verdict.reason}}


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    kept = ("id", "epoch", "input", "target", "metadata", "scores", "model_usage")
    summary = {name: sample[name] for name in kept} | {"completed": True, "message_count": len(sample["messages"])}
    return summary | ({"error": sample["error"]["message"]} if "error" in sample else {})


def _usage(trials: Iterable[Trial]) -> dict[str, int]:
    known = list(trials)
    prompt, output = sum(one.prompt_tokens for one in known), sum(one.output_tokens for one in known)
    return {"input_tokens": prompt, "output_tokens": output, "total_tokens": prompt + output}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
