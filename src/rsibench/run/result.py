"""The result of a run: every number that is printed or drawn, in one record that is stored as a blob and sealed.

It is a pure function of the lock, the journal's state and the trials, so that `verify` can compute it again.
"""

from __future__ import annotations

from rsibench.spec.frozen import Frozen
from rsibench.spec.score import Score
from rsibench.units import Account


class AttemptSummary(Frozen):
    """One attempt as the tables show it. Scores are those of the selection split."""

    attempt: int
    stage: str
    rows: int
    train_tokens: int
    steps: int | None
    learning_rate: float
    epochs: int
    lora_rank: int
    adapter_sha256: str | None
    delta_norm: float | None
    near_noop: bool | None
    score: Score | None
    training_micro_usd: int
    sampling_micro_usd: int
    hypothesis: str


class Difference(Frozen):
    """Selected minus base on the official split, paired by item. `p_value` is for no difference at all."""

    mean: float
    interval_low: float
    interval_high: float
    p_value: float
    items: int
    method: str


class RunResult(Frozen):
    """What a run found. `labels` are warnings that belong to every display of it, such as `unisolated`."""

    run_id: str
    profile: str
    profile_version: str
    variant: str
    protocol_digest: str
    researcher: str
    seed: int
    labels: tuple[str, ...]
    selected_attempt: int | None
    selection_rule: str
    closed_because: str
    base_selection: Score
    base_official: Score
    selected_official: Score
    official_difference: Difference | None
    """None where coverage is too low for a comparison."""
    attempts: tuple[AttemptSummary, ...]
    refused_submissions: int
    replicated_submissions: int
    incidents: tuple[str, ...]
    limits: dict[Account, int]
    spent: dict[Account, int]
    """In each account's smallest unit; wall time is left out, it is not the same twice."""
    price_table: str
    price_model: str
    price_date: str
    shadow_prices: bool
