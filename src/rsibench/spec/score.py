"""Scores of a set of trials: a rate with its interval, its coverage, and what broken infrastructure could hide."""

from __future__ import annotations

from pydantic import Field

from rsibench.spec.frozen import Frozen


class FamilyScore(Frozen):
    """One family's trials."""

    family: str
    passed: int = Field(ge=0)
    counted: int = Field(ge=0)
    total: int = Field(ge=0)


class Score(Frozen):
    """`rate` is None below the profile's coverage gate; bounds take every uncounted trial as wrong, then right."""

    rate: float | None
    passed: int = Field(ge=0)
    counted: int = Field(ge=0)
    total: int = Field(ge=0)
    interval_low: float | None
    interval_high: float | None
    bound_low: float
    bound_high: float
    coverage: float
    outcomes: dict[str, int]
    families: tuple[FamilyScore, ...]
    prompt_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
