"""What was found in which row: for the controller's records. The researcher is told the row and the class only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rsibench.spec.contamination import LeakClass
from rsibench.spec.frozen import canonical_json


class Finding(NamedTuple):
    """A row holds protected material. `via` says how it was written, `span` quotes the row: for the controller only."""

    row: int
    leak: LeakClass
    item_id: str
    share: float
    via: str
    span: str


def evidence_json(findings: Sequence[Finding]) -> bytes:
    """Findings as canonical JSON, for a blob of the controller."""
    return canonical_json([{**finding._asdict(), "leak": finding.leak.value} for finding in findings])
