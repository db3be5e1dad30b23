"""A campaign: a matrix of runs as a YAML file describes it. Researchers x profiles x seeds x budgets.

Names are checked here for being distinct; whether a researcher or a profile exists is found out when it is planned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from rsibench.spec.budget import BudgetChange, Usd
from rsibench.spec.frozen import Frozen

_NAME = r"^[a-z0-9][a-z0-9._-]*$"
Name = Annotated[str, Field(pattern=_NAME, max_length=40)]
"""Part of run ids: lowercase letters, digits, dots and dashes."""


class Outline(Frozen):
    """What is known of a profile that may not be installed here: enough to plan with, never enough to run."""

    official_items: int = Field(gt=0)
    decodes: int = Field(default=1, gt=0)
    base_rate: float = Field(ge=0, le=1)
    expected_usd: Usd | None = None
    expected_hours: float | None = Field(default=None, ge=0)
    source: str
    """Where the figures come from."""


class ProfileChoice(Frozen):
    """One profile of the matrix. `model` replaces its student, as `--model` does."""

    profile: str
    name: Name | None = None
    """Its part in run ids; the profile's own name by default, needed for a path."""
    quick: bool = False
    model: str | None = None
    outline: Outline | None = None

    @property
    def label(self) -> str:
        """Its part in run ids and tables."""
        return self.name or (f"{self.profile}-quick" if self.quick else self.profile)


class BudgetChoice(Frozen):
    """One budget of the matrix: what it changes in the profile's own."""

    name: Name = "default"
    change: BudgetChange = BudgetChange()


class SharedLimits(Frozen):
    """What all cells together may spend. A cell starts only when its worst case still fits."""

    usd: Usd | None = None
    hours: float | None = Field(default=None, gt=0)
    """Research hours of all cells together, not hours of the clock."""


class Assumptions(Frozen):
    """What power is computed with; all of it is printed beside the figures."""

    difference: float = Field(default=0.1, gt=0, lt=1)
    """The difference between two researchers, in score, that the campaign should find."""
    power: float = Field(default=0.8, gt=0.05, lt=1)
    icc: float = Field(default=0.5, ge=0, lt=1)
    """Share of a verdict's variance that lies between tasks."""
    shared: float = Field(default=0.5, ge=0, le=1)
    """How much of that part two researchers have in common, measured on the same tasks."""
    run_sd: float = Field(default=0.03, ge=0, le=0.5)
    """Standard deviation of the true score between runs of one researcher."""


def _as_profile(value: Any) -> Any:
    return {"profile": value} if isinstance(value, str) else value


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


class CampaignSpec(Frozen):
    """The matrix, as asked for."""

    name: Name
    title: str
    researchers: tuple[Name, ...] = Field(min_length=1)
    profiles: tuple[Annotated[ProfileChoice, BeforeValidator(_as_profile)], ...] = Field(min_length=1)
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
    budgets: tuple[BudgetChoice, ...] = Field(default=(BudgetChoice(),), min_length=1)
    limits: SharedLimits = SharedLimits()
    parallel: int = Field(default=1, gt=0)
    """How many cells run at once where no queue of workers decides it."""
    options: tuple[str, ...] = ()
    """More options for every cell's `rsibench run`, such as `--trainer` with its value."""
    assume: Assumptions = Assumptions()

    @model_validator(mode="after")
    def _distinct(self) -> CampaignSpec:
        for what, names in (
            ("researchers", self.researchers),
            ("profiles", [choice.label for choice in self.profiles]),
            ("seeds", [str(seed) for seed in self.seeds]),
            ("budgets", [choice.name for choice in self.budgets]),
        ):
            repeated = _repeated(names)
            if repeated:
                raise ValueError(f"{what} given twice: {', '.join(repeated)}; each needs a name of its own")
        for choice in self.profiles:
            if choice.name is None and "/" in choice.profile:
                raise ValueError(f"the profile {choice.profile} is a path and needs a `name`")
        return self
