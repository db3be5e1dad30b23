"""One run's rows, from its journal. Everything is read from events and blobs; nothing is computed that a run printed.

Runs that are not sealed have rows too: they are data about what was spent and how far it came.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rsibench.journal.envelope import Entry
from rsibench.journal.events import AttemptScored, ResearchStarted, SelectionCommitted
from rsibench.journal.fold import fold
from rsibench.journal.state import Decision, RunState, Stage
from rsibench.run.archive import ArchivedRun
from rsibench.run.result import AttemptSummary, RunResult
from rsibench.run.summarise import attempt_summaries
from rsibench.spec.item import Split
from rsibench.spec.lock import Lock
from rsibench.spec.score import Score
from rsibench.units import MICRO_USD_PER_USD, MILLISECONDS_PER_SECOND, Account, to_whole

_MONEY = (Account.TRAINING, Account.SAMPLING, Account.RESEARCHER, Account.ROLLOUT)


class TrialsBlob(NamedTuple):
    """A blob of trials and what it is of; attempt 0 is the base student."""

    split: Split
    attempt: int
    blob: str


class RunRows(NamedTuple):
    """Rows of one run, and where its trials are."""

    run: dict[str, Any]
    attempts: list[dict[str, Any]]
    costs: list[dict[str, Any]]
    trials: list[TrialsBlob]


def run_rows(run: ArchivedRun) -> RunRows:
    """The rows of one run. Raises IntegrityError when its journal or its lock was damaged."""
    entries = run.entries()
    state = fold(entries, run.run_id)
    lock = run.lock()
    result = None
    if state.result_blob is not None:
        result = RunResult.model_validate_json(run.blobs.get(state.result_blob))
    summaries = attempt_summaries(state, entries, run.blobs)
    return RunRows(
        run=_run(lock, state, entries, summaries, result),
        attempts=_attempts(state, entries, summaries),
        costs=[
            {
                "run_id": state.run_id,
                "account": account.value,
                "limit": to_whole(account, balance.limit),
                "spent": to_whole(account, balance.spent),
            }
            for account, balance in state.balances.items()
        ],
        trials=list(_trials(state)),
    )


def _run(
    lock: Lock,
    state: RunState,
    entries: Sequence[Entry],
    summaries: Sequence[AttemptSummary],
    result: RunResult | None,
) -> dict[str, Any]:
    protocol, run = lock.protocol, lock.run
    started = _elapsed(entries, ResearchStarted)
    committed = _elapsed(entries, SelectionCommitted)
    base = {split: found.score.rate for split, found in state.base.items()}
    chosen = state.committed.attempt if state.committed else None
    scores = {one.attempt: one.score for one in summaries}
    difference = result.official_difference if result else None
    money = [state.balances[account] for account in _MONEY if account in state.balances]
    return {
        "run_id": state.run_id,
        "profile": protocol.profile,
        "profile_version": protocol.profile_version,
        "variant": protocol.variant,
        "protocol_digest": lock.protocol_digest,
        "researcher": run.researcher,
        "seed": run.seed,
        "isolation": run.isolation,
        "planned_at": run.planned_at,
        "phase": state.phase.value,
        "sealed": state.sealed,
        "labels": list(result.labels) if result else [],
        "attempts": len(summaries),
        "scored_attempts": sum(one.stage is Stage.SCORED for one in state.attempts.values()),
        "refused_submissions": sum(one.decision is Decision.REFUSED for one in state.submissions.values()),
        "replicated_submissions": sum(one.decision is Decision.REPLICATED for one in state.submissions.values()),
        "incidents": [one.incident for one in state.incidents],
        "selected_attempt": chosen,
        "closed_because": state.committed.reason if state.committed else None,
        "base_selection": base.get(Split.SELECTION),
        "selected_selection": _rate(scores.get(chosen)) if chosen is not None else base.get(Split.SELECTION),
        "base_official": base.get(Split.OFFICIAL),
        "official": state.official.score.rate if state.official else None,
        "official_coverage": state.official.score.coverage if state.official else None,
        "difference": difference.mean if difference else None,
        "difference_low": difference.interval_low if difference else None,
        "difference_high": difference.interval_high if difference else None,
        "difference_p": difference.p_value if difference else None,
        "official_items": difference.items if difference else None,
        "usd": sum(balance.spent for balance in money) / MICRO_USD_PER_USD,
        "budget_usd": sum(balance.limit for balance in money) / MICRO_USD_PER_USD,
        "research_seconds": None if started is None or committed is None else committed - started,
        "total_seconds": state.elapsed_ms / MILLISECONDS_PER_SECOND,
        "budget_seconds": protocol.budget.wall_seconds,
        "shadow_prices": protocol.pricing.shadow,
    }


def _attempts(state: RunState, entries: Sequence[Entry], summaries: Sequence[AttemptSummary]) -> list[dict[str, Any]]:
    """Attempts in order with what had been used by the time each was scored, refused and failed ones included."""
    started = _elapsed(entries, ResearchStarted) or 0.0
    scored_at = {
        entry.event.attempt: entry.elapsed_ms / MILLISECONDS_PER_SECOND
        for entry in entries
        if isinstance(entry.event, AttemptScored)
    }
    chosen = state.committed.attempt if state.committed else None
    rows, usd_before, tokens = [], 0.0, 0
    for one in summaries:
        usd = (one.training_micro_usd + one.sampling_micro_usd) / MICRO_USD_PER_USD
        tokens += one.train_tokens
        at = scored_at.get(one.attempt)
        rows.append(
            {
                "run_id": state.run_id,
                "attempt": one.attempt,
                "stage": one.stage,
                "selected": one.attempt == chosen,
                "rows": one.rows,
                "train_tokens": one.train_tokens,
                "learning_rate": one.learning_rate,
                "epochs": one.epochs,
                "lora_rank": one.lora_rank,
                "delta_norm": one.delta_norm,
                "near_noop": one.near_noop,
                "score": _rate(one.score),
                "passed": one.score.passed if one.score else None,
                "counted": one.score.counted if one.score else None,
                "total": one.score.total if one.score else None,
                "usd": usd,
                "usd_before": usd_before,
                "usd_known": usd_before + usd,
                "tokens_known": tokens,
                "seconds_known": None if at is None else at - started,
            }
        )
        usd_before += usd
    return rows


def _trials(state: RunState) -> Iterator[TrialsBlob]:
    for split, found in state.base.items():
        yield TrialsBlob(split, 0, found.trials_blob)
    for one in state.attempts.values():
        if one.trials_blob is not None:
            yield TrialsBlob(Split.SELECTION, one.number, one.trials_blob)
    if state.official is not None and state.official.attempt is not None:
        yield TrialsBlob(Split.OFFICIAL, state.official.attempt, state.official.trials_blob)


def _elapsed(entries: Sequence[Entry], kind: type[ResearchStarted] | type[SelectionCommitted]) -> float | None:
    """Seconds of active time at the first event of a kind; None when there is none."""
    return next(
        (entry.elapsed_ms / MILLISECONDS_PER_SECOND for entry in entries if isinstance(entry.event, kind)), None
    )


def _rate(score: Score | None) -> float | None:
    return None if score is None else score.rate
