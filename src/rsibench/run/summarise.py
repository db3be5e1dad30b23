"""Makes a run's result from its lock, its journal and its blobs; `verify` makes it again and compares."""

from __future__ import annotations

from collections.abc import Iterable

from rsibench.errors import IntegrityError
from rsibench.evaluation.scoring import paired_difference
from rsibench.journal.envelope import Entry
from rsibench.journal.events import TrainingFinished
from rsibench.journal.state import AttemptState, Decision, RunState
from rsibench.run.result import AttemptSummary, Difference, RunResult
from rsibench.run.trials import decode_trials
from rsibench.spec.item import Split
from rsibench.spec.lock import Lock
from rsibench.store.blobs import Blobs
from rsibench.units import Account

UNISOLATED = "unisolated"
QUICK = "quick"
NEAR_NOOP = "near-no-op"
BASE_KEPT = "base-kept"
MODIFIED_STUDENT = "modified-student"


def summarise(lock: Lock, state: RunState, entries: Iterable[Entry], blobs: Blobs) -> RunResult:
    """The result of a run whose official split was scored. Raises IntegrityError when something is missing."""
    official, committed, base = state.official, state.committed, state.base
    if official is None or committed is None or Split.OFFICIAL not in base:
        raise IntegrityError(
            "the run has no official score yet", where=f"run {state.run_id}", fix="`rsibench resume` finishes it"
        )
    protocol = lock.protocol
    return RunResult(
        run_id=state.run_id,
        profile=protocol.profile,
        profile_version=protocol.profile_version,
        variant=protocol.variant,
        protocol_digest=lock.protocol_digest,
        researcher=lock.run.researcher,
        seed=lock.run.seed,
        labels=_labels(lock, state),
        selected_attempt=committed.attempt,
        selection_rule=committed.rule or "",
        closed_because=committed.reason or "",
        base_selection=base[Split.SELECTION].score,
        base_official=base[Split.OFFICIAL].score,
        selected_official=official.score,
        official_difference=_difference(base[Split.OFFICIAL].trials_blob, official.trials_blob, lock, state, blobs),
        attempts=attempt_summaries(state, entries, blobs),
        refused_submissions=sum(one.decision is Decision.REFUSED for one in state.submissions.values()),
        replicated_submissions=sum(one.decision is Decision.REPLICATED for one in state.submissions.values()),
        incidents=tuple(incident.incident for incident in state.incidents),
        limits=state.limits,
        spent={account: b.spent for account, b in state.balances.items() if account is not Account.WALL},
        price_table=protocol.pricing.table,
        price_model=protocol.pricing.model,
        price_date=protocol.pricing.dated.isoformat(),
        shadow_prices=protocol.pricing.shadow,
    )


def attempt_summaries(state: RunState, entries: Iterable[Entry], blobs: Blobs) -> tuple[AttemptSummary, ...]:
    """Every attempt so far, also of a run that goes on."""
    trainings = {e.event.attempt: e.event for e in entries if isinstance(e.event, TrainingFinished)}
    return tuple(_attempt(one, state, trainings.get(one.number), blobs) for one in state.attempts.values())


def _labels(lock: Lock, state: RunState) -> tuple[str, ...]:
    labels = [UNISOLATED] if lock.run.isolation == "unisolated" else []
    if lock.protocol.variant == "quick":
        labels.append(QUICK)
    if lock.run.model is not None:
        labels.append(MODIFIED_STUDENT)
    chosen = state.committed.attempt if state.committed else None
    if chosen is None:
        labels.append(BASE_KEPT)
    elif state.attempts[chosen].near_noop:
        labels.append(NEAR_NOOP)
    return tuple(labels)


def _attempt(attempt: AttemptState, state: RunState, training: TrainingFinished | None, blobs: Blobs) -> AttemptSummary:
    spent = state.reservations[attempt.reservation].spent
    hypothesis = blobs.get(state.submissions[attempt.submission].hypothesis_blob).decode()
    return AttemptSummary(
        attempt=attempt.number,
        stage=attempt.stage.value,
        rows=attempt.rows,
        train_tokens=attempt.train_tokens,
        steps=training.steps if training else None,
        learning_rate=attempt.config.learning_rate,
        epochs=attempt.config.epochs,
        lora_rank=attempt.config.lora_rank,
        adapter_sha256=attempt.adapter_sha256,
        delta_norm=training.delta_norm if training else None,
        near_noop=attempt.near_noop,
        score=attempt.score,
        training_micro_usd=spent.get(Account.TRAINING, 0),
        sampling_micro_usd=spent.get(Account.SAMPLING, 0),
        hypothesis=hypothesis,
    )


def _difference(base_blob: str, selected_blob: str, lock: Lock, state: RunState, blobs: Blobs) -> Difference | None:
    official = state.official
    base = state.base[Split.OFFICIAL]
    if official is None or official.score.rate is None or base.score.rate is None:
        return None
    where = f"run {lock.run.run_id}"
    found = paired_difference(
        decode_trials(blobs.get(base_blob), where=where), decode_trials(blobs.get(selected_blob), where=where)
    )
    return Difference(
        mean=found.mean,
        interval_low=found.interval_low,
        interval_high=found.interval_high,
        p_value=found.p_value,
        items=found.items,
        method=found.method,
    )
