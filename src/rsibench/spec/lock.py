"""The lock: everything a run resolved before it started, and the digest under which its results may be compared.

The protocol part covers all that can change a result; the run part says which run this is; the machine and code parts
are facts recorded beside it. Results with different protocol digests are never ranked together.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from rsibench.spec.budget import Budget, BudgetChange
from rsibench.spec.frozen import Frozen
from rsibench.spec.prices import Pricing
from rsibench.spec.profile import DataPolicy, Decoding, FeedbackLevel, ItemsPlan
from rsibench.spec.recipe import Recipe
from rsibench.spec.student import StudentDigest

Isolation = Literal["unisolated", "bubblewrap", "docker"]
HARNESS_PROTOCOL = 1
"""Version of the harness itself; raised by hand whenever its own behaviour can change a result."""


class RendererFacts(Frozen):
    """Which chat template turned messages into tokens."""

    name: str
    version: str
    stop_token_ids: tuple[int, ...]


class SplitDigests(Frozen):
    """The items of a split: how many and the digest of each, in order."""

    item_ids: tuple[str, ...]
    item_digests: tuple[str, ...]


class Protocol(Frozen):
    """All that can change a result."""

    harness: int = HARNESS_PROTOCOL
    profile: str
    profile_version: str
    variant: Literal["full", "quick"]
    student: StudentDigest
    renderer: RendererFacts
    recipe: Recipe
    trainer: str
    sampler: str
    decoding: Decoding
    system_prompt: str | None
    items: ItemsPlan
    selection: SplitDigests
    official: SplitDigests
    feedback: FeedbackLevel
    data: DataPolicy
    coverage_gate: float
    budget: Budget
    pricing: Pricing
    selection_rule: Literal["best-selection-score-earliest"] = "best-selection-score-earliest"
    brief_sha256: str
    """Digest of the text every researcher is given."""
    early_stop_message: str


class RunPlan(Frozen):
    """Which run this is: the parts of a campaign's matrix."""

    run_id: str
    researcher: str
    seed: int = Field(ge=0)
    isolation: Isolation
    planned_at: datetime
    model: str | None = None
    """What `--model` named in place of the profile's student."""
    budget_change: BudgetChange | None = None
    """What was changed in the profile's budget."""
    profile_source: str
    """The name or file the profile was read from, so that the run can be resumed."""


class Machine(Frozen):
    """Facts of the machine. Runs are bit-for-bit repeatable only on the same kind of machine."""

    platform: str
    processor: str
    cpu_capability: str
    cpu_threads: int
    accelerator: str | None
    python: str
    libraries: dict[str, str]


class Code(Frozen):
    """The code that ran. `dirty` says that files differed from the commit; None where there was no checkout."""

    version: str
    commit: str | None
    dirty: bool | None


class Lock(Frozen):
    """A resolved run. `protocol_digest` is checked against the protocol when a lock is read back."""

    protocol: Protocol
    protocol_digest: str
    run: RunPlan
    machine: Machine
    code: Code
