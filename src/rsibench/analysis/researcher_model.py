"""Researchers as numbers, for simulation: how good their attempts truly are and when they stop.

All are shares of the score scale. A researcher with no skill, no drift and noise is chance that can be mistaken for
research; with none of the three every attempt equals base.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rsibench.spec.frozen import Frozen

LONGEST = 64


class FixedAttempts(Frozen):
    """Make exactly this many attempts."""

    kind: Literal["fixed"] = "fixed"
    attempts: int = Field(ge=1, le=LONGEST)


class Patience(Frozen):
    """Stop after this many attempts in a row without a new best selection score, and at the latest after `at_most`."""

    kind: Literal["patience"] = "patience"
    without_best: int = Field(ge=1, le=LONGEST)
    at_most: int = Field(ge=1, le=LONGEST)


class TargetGain(Frozen):
    """Stop once the selection score is this far above base's, and at the latest after `at_most`."""

    kind: Literal["target"] = "target"
    gain: float = Field(ge=-1, le=1)
    at_most: int = Field(ge=1, le=LONGEST)


class DrawnAttempts(Frozen):
    """Make a number of attempts that is drawn for each run: `weights[i]` belongs to i + 1 attempts."""

    kind: Literal["drawn"] = "drawn"
    weights: tuple[float, ...] = Field(min_length=1, max_length=LONGEST)

    @model_validator(mode="after")
    def _can_be_drawn(self) -> DrawnAttempts:
        if min(self.weights) < 0 or sum(self.weights) <= 0:
            raise ValueError("weights are not negative and not all zero")
        return self


type Stopping = Annotated[FixedAttempts | Patience | TargetGain | DrawnAttempts, Field(discriminator="kind")]


def longest(stopping: Stopping) -> int:
    """The most attempts that a rule can lead to."""
    match stopping:
        case FixedAttempts():
            return stopping.attempts
        case DrawnAttempts():
            return len(stopping.weights)
        case Patience() | TargetGain():
            return stopping.at_most


class ResearcherModel(Frozen):
    """True score of attempt t (1, 2, ...): base + skill + drift * (t - 1) + noise * normal, kept between 0 and 1."""

    name: str
    skill: float = Field(default=0.0, ge=-1, le=1)
    drift: float = Field(default=0.0, ge=-1, le=1)
    """What each further attempt adds: above 0 feedback is turned into gains, below 0 it does harm."""
    noise: float = Field(default=0.0, ge=0, le=1)
    """Standard deviation between attempts of one run."""
    stopping: Stopping
    keeps_base: bool = False
    """Select base when no attempt beats its selection score."""


class ProfileModel(Frozen):
    """What a run is measured on: base's true rate, and tasks and decodes of both splits."""

    base: float = Field(ge=0, le=1)
    selection_tasks: int = Field(ge=1)
    official_tasks: int = Field(ge=1)
    decodes: int = Field(default=1, ge=1)
    icc: float = Field(default=0.5, ge=0, lt=1)
    """Share of a verdict's variance that lies between tasks."""
