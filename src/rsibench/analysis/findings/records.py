"""The records of findings: plain frozen values with names that say their units, the same for JSON, CSV and pages.

Scores, gains and differences are shares from 0 to 1; p-values are two-sided; intervals are 95 %.
"""

from __future__ import annotations

from rsibench.spec.frozen import Frozen


class Estimate(Frozen):
    """A value with its interval. Bounds are None where the data do not allow any; `p_value` is for no effect."""

    value: float
    low: float | None
    high: float | None
    p_value: float | None = None
    of: int
    """How many units (tasks or runs, as `unit` says) it rests on."""
    unit: str
    method: str


class NullFinding(Frozen):
    """A process rate beside what one kind of chance gives."""

    null: str
    expected: float
    low: float
    high: float
    excess: float
    p_value: float


class ProcessFinding(Frozen):
    """One process rate of one researcher. `nulls` is empty where no run could show it."""

    rate: str
    events: int
    of: int
    nulls: tuple[NullFinding, ...]


class ReliabilityFinding(Frozen):
    """Over the seeds of one researcher."""

    runs: int
    gain: float
    gain_low: float
    gain_high: float
    harm: float
    harm_low: float
    harm_high: float
    clear_gain: float
    clear_harm: float
    worst: float
    best: float
    spread: float | None


class CurvePoint(Frozen):
    """One point of an anytime curve: dollars, mean best selection score so far, and its band over runs."""

    usd: float
    mean: float
    low: float
    high: float


class RunFinding(Frozen):
    """One run in a few figures, for the table that leads to its page."""

    run_id: str
    seed: int
    attempts: int
    selected_attempt: int | None
    official: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    usd: float
    hours: float
    labels: tuple[str, ...]
    incidents: int


class ResearcherFindings(Frozen):
    """One researcher under one protocol. Fields are None where no run of it allows them."""

    researcher: str
    runs: tuple[RunFinding, ...]
    open_runs: int
    attempts: int
    refused_submissions: int
    official: float | None
    gain: Estimate | None
    """Official score of the selected checkpoint less base's, over tasks and runs."""
    reliability: ReliabilityFinding | None
    process: tuple[ProcessFinding, ...]
    over_first: Estimate | None
    """Selection score of the selected less that of the first valid attempt, over tasks and runs; optimistic, since the
    same scores chose."""
    selection: float | None
    """Mean selection score of what was selected."""
    corrected: float | None
    """The same, with the luck of having been chosen taken out."""
    gap: Estimate | None
    """Selection score less official score of the selected: luck of the choice and harder official tasks together."""
    regret: float | None
    usd: float
    hours: float
    usd_after_peak: float | None
    share_after_peak: float | None
    gain_per_usd: Estimate | None
    areas: dict[str, Estimate]
    """By resource: mean gain over base of the best selection score so far while the limit of the resource is used."""
    curve: tuple[CurvePoint, ...]
    kept_base: int
    near_noop: int
    incidents: dict[str, int]


class PairFinding(Frozen):
    """Two researchers: `first` less `second` in official score, over tasks and runs, Holm-corrected in its protocol."""

    first: str
    second: str
    difference: Estimate
    adjusted_p: float
    separable: bool
    improvement: float
    """Chance that a run of `first` has a higher official score than a run of `second`, a tie counting one half."""


class RankFinding(Frozen):
    """Which ranks the data allow one researcher; all sets hold together with 95 %."""

    researcher: str
    score: float
    best: int
    worst: int


class RuleFinding(Frozen):
    """A stopping and selection rule replayed over every run that allows it; means over runs."""

    rule: str
    gain: float
    regret: float
    attempts: float
    share_spent: float
    kept_base: float
    runs: int


class FrontierFinding(Frozen):
    """Who is not beaten on score and cost, and the share of the plane the researcher covers."""

    researcher: str
    usd: float
    score: float
    on_front: bool
    hypervolume: float | None


class ProtocolFindings(Frozen):
    """All runs of one protocol digest: the only ones that may be ranked together."""

    protocol_digest: str
    profile: str
    profile_version: str
    variant: str
    selection_tasks: int
    official_tasks: int
    base_official: float | None
    base_selection: float | None
    budget_usd: float
    limits: dict[str, float]
    """What areas are taken over, by resource: the budget's dollars, hours and attempts, the most tokens of any run."""
    shadow_prices: bool
    researchers: tuple[ResearcherFindings, ...]
    pairs: tuple[PairFinding, ...]
    ranks: tuple[RankFinding, ...]
    detectable: float | None
    """Difference between two of these researchers that would be found with 80 % power; None when nobody has 2 runs."""
    rules: tuple[RuleFinding, ...]
    frontier: tuple[FrontierFinding, ...]
    hypervolume_version: str


class AggregateFinding(Frozen):
    """A researcher over several profiles. Aggregates hide which profile moved."""

    researcher: str
    profiles: tuple[str, ...]
    rsi_index: Estimate
    interquartile_mean: Estimate
    rsi_index_version: str


class Findings(Frozen):
    """Everything that a report over several runs prints."""

    title: str
    runs: int
    sealed: int
    protocols: tuple[ProtocolFindings, ...]
    aggregates: tuple[AggregateFinding, ...]
    seed: int
    """Seed of everything that was drawn; the same runs and seed give the same figures."""
