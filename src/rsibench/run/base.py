"""The base student's scores: measured once for a protocol on a kind of machine, then shared by every run of it."""

from __future__ import annotations

from rsibench.ids import sha256_bytes
from rsibench.journal.events import BaseScored, Measured
from rsibench.run.context import RunContext
from rsibench.run.evaluate import evaluate
from rsibench.spec.frozen import canonical_json
from rsibench.spec.item import Split
from rsibench.spec.lock import Lock
from rsibench.store.base_scores import BaseScore, find_base_score, keep_base_score
from rsibench.units import MILLISECONDS_PER_SECOND


def base_cache_key(lock: Lock) -> str:
    """What a base score depends on: the protocol, and the kind of machine (floating point differs between kinds)."""
    machine = lock.machine
    kind = [machine.platform, machine.processor, machine.cpu_capability, machine.cpu_threads, machine.accelerator]
    return sha256_bytes(canonical_json([lock.protocol_digest, kind, machine.libraries]))


def score_base(context: RunContext, split: Split) -> None:
    """Journals the base student's score on `split` unless it is there; measures it unless it is cached."""
    if split in context.journal.state().base:
        return
    key = base_cache_key(context.planned.lock)
    with context.store.reading() as connection:
        found = find_base_score(connection, key, split)
    cached = found is not None and context.blobs.has(found.trials_blob)
    wall_ms: int | None = None
    if found is None or not cached:
        items = context.planned.selection if split is Split.SELECTION else context.planned.official
        context.progress.begin(f"base student on the {split.value} split", total=len(items), unit="items")
        measured = evaluate(context, items, None, lambda _: None)
        wall_ms = int(measured.seconds * MILLISECONDS_PER_SECOND)
        if split is Split.SELECTION:
            context.pace.evaluated(measured.seconds)
        found = BaseScore(measured.trials_blob, measured.score)
    with context.store.transaction(context.journal.run_id) as connection:
        kept = keep_base_score(connection, key, split, found)
        context.journal.append(
            BaseScored(
                split=split,
                trials_blob=kept.trials_blob,
                score=kept.score,
                measured=Measured(cached=cached, wall_ms=wall_ms),
            )
        )
