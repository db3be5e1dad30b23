"""Which part a problem belongs to, decided by its content alone.

A stable hash of the family and the core puts one problem in ten into the official part, one in ten into the selection
part and the rest into the training part, so the parts are disjoint whoever draws, whenever, with whatever seed.
"""

from __future__ import annotations

import hashlib
import json

from .family import Problem

OFFICIAL = "official"
SELECTION = "selection"
TRAINING = "training"
_BUCKETS = 10


def part_of(family: str, problem: Problem) -> str:
    """The part of a problem of `family`: OFFICIAL, SELECTION or TRAINING."""
    text = json.dumps([family, problem.core], separators=(",", ":"), ensure_ascii=True)
    bucket = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % _BUCKETS
    return {0: OFFICIAL, 1: SELECTION}.get(bucket, TRAINING)
