"""The records of mechanism detectors. Shares are from 0 to 1; None means that an attempt or a run cannot show it."""

from __future__ import annotations

from rsibench.spec.frozen import Frozen


class HypothesisFinding(Frozen):
    """Which families a hypothesis named, and which moved up against the attempt it built on, else the best before.

    `expected_hits` is what naming as many families at random would hit; `p_value` is the chance to hit as many or more.
    """

    named: tuple[str, ...]
    moved: tuple[str, ...]
    hits: int
    expected_hits: float
    p_value: float


class AttemptMechanisms(Frozen):
    """One attempt against what came before it."""

    attempt: int
    built_on: int | None
    """The attempt whose rows it shares most of; None for the first or when nothing is shared."""
    hypothesis: HypothesisFinding | None
    grounding: float | None
    """Rank correlation, over families, of this attempt's share of rows with the failures fed back before it."""
    alignment: float
    """How far rows have the evaluated form: as many turns, system prompt or none, and an answer that can be read."""
    new_rows: float
    """Share of rows that no earlier attempt had."""
    mix_change: float | None
    """Half the sum of changes of the families' shares against the attempt before."""
    settings_changed: bool | None
    repaired_from_best: bool | None
    """After a regression, whether it shares more rows with the best attempt so far than with the last."""


class RunMechanisms(Frozen):
    """The paper's four habits and novelty, over one run."""

    run_id: str
    attempts: tuple[AttemptMechanisms, ...]
    hypothesis_hits: int
    hypothesis_named: int
    hypothesis_expected_hits: float
    hypothesis_p_value: float | None
    """Chance of as many hits in all by random naming, over the attempts that can show it."""
    grounding: float | None
    alignment: float
    preservation: bool | None
    """Whether the best selection score, base included, is what was committed; None without attempts."""
    novelty: float | None
    note: str = "observational: these figures describe what was done, not what caused a score"
