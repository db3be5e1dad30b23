"""Trials as bytes: JSON lines in the order of the items, so that equal trials are equal blobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rsibench.errors import IntegrityError
from rsibench.spec.item import Item, Trial


def encode_trials(trials: Iterable[Trial], items: Sequence[Item]) -> bytes:
    """Canonical JSON lines, by item and then by decode. Raises IntegrityError when one is missing or double."""
    order = {item.item_id: place for place, item in enumerate(items)}
    ordered = sorted(trials, key=lambda trial: (order[trial.item_id], trial.decode))
    seen = {(trial.item_id, trial.decode) for trial in ordered}
    if len(seen) != len(ordered) or {name for name, _ in seen} != set(order):
        raise IntegrityError(
            f"{len(ordered)} trials do not cover {len(items)} items once each",
            where="evaluation",
            fix="this is a fault of the program; keep the run's folder and report it",
        )
    return b"".join(trial.canonical() + b"\n" for trial in ordered)


def decode_trials(data: bytes, *, where: str) -> tuple[Trial, ...]:
    """The trials of a blob. Raises IntegrityError for a line that is none."""
    try:
        return tuple(Trial.model_validate_json(line) for line in data.splitlines())
    except ValueError as error:
        raise IntegrityError(f"a trial cannot be read: {error}", where=where, fix="restore the blob") from error
