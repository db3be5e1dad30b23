"""Evaluator: a checkpoint and a set of items in, one trial for every item and decode out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from rsibench.spec.item import Item, Trial


class Evaluator(Protocol):
    """Yields trials as they finish, each exactly once. `adapter` None is the base student.

    An infrastructure failure of a single trial is a trial with that outcome; one that stops the whole evaluation is an
    InfrastructureFailure.
    """

    def evaluate(self, items: Sequence[Item], adapter: Path | None) -> Iterator[Trial]: ...
