"""A profile: a pinned benchmark. Tasks, splits, runner, decoding, recipe, data policy, budget, prices, feedback."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from rsibench.spec.budget import Budget
from rsibench.spec.contamination import ContaminationPolicy
from rsibench.spec.frozen import Frozen
from rsibench.spec.recipe import Recipe


class FeedbackLevel(StrEnum):
    """How much of the selection split's evaluation the researcher sees."""

    AGGREGATE = "aggregate"
    """The overall score and its interval."""
    PER_TASK = "per-task"
    """Also every item's family and outcome."""
    TRAJECTORIES = "trajectories"
    """Also every item's prompt, the student's output and what was read from it."""


class SplitPlan(Frozen):
    """How many items of each family a split holds, and the share made from templates that only this split may use."""

    per_family: int = Field(gt=0)
    hidden_template_share: float = Field(default=0.0, ge=0, le=1)


class ItemsPlan(Frozen):
    """Which generator makes the items. The same plan always gives the same items."""

    generator: str
    version: str
    families: tuple[str, ...] = Field(min_length=1)
    selection: SplitPlan
    official: SplitPlan


class Decoding(Frozen):
    """How the student answers. Temperature 0 is greedy."""

    max_new_tokens: int = Field(gt=0)
    temperature: float = Field(ge=0)
    decodes: int = Field(gt=0)
    batch_rows: int = Field(gt=0)
    """Rows a batch of the local sampler; part of the protocol because it can change low bits."""


class DataPolicy(Frozen):
    """What a submission's file may be."""

    max_file_bytes: int = Field(gt=0)
    max_line_bytes: int = Field(gt=0)
    max_rows: int = Field(gt=0)
    max_messages_per_row: int = Field(gt=0)
    max_json_depth: int = Field(gt=0)
    max_hypothesis_bytes: int = Field(gt=0)
    contamination: ContaminationPolicy = ContaminationPolicy()


class PriceReference(Frozen):
    """Which table and which of its models a run is charged at. `shadow` charges local compute as if it were hosted."""

    table: str
    model: str
    shadow: bool


class Quick(Frozen):
    """What `--quick` replaces: a smaller, separately digested protocol for trying things out."""

    selection: SplitPlan
    official: SplitPlan
    max_train_tokens: int = Field(gt=0)
    budget: Budget


class Profile(Frozen):
    """One benchmark, pinned."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    version: str
    title: str
    card: str
    """What the score does and does not mean, in Markdown."""
    student: str
    runner: Literal["answer"]
    system_prompt: str | None
    items: ItemsPlan
    decoding: Decoding
    feedback: FeedbackLevel
    recipe: Recipe
    data: DataPolicy
    coverage_gate: float = Field(ge=0, le=1)
    """Below this share of counted trials a score is withheld."""
    budget: Budget
    prices: PriceReference
    quick: Quick | None = None
    variant: Literal["full", "quick"] = "full"

    def as_quick(self) -> Profile:
        """This profile with its quick replacements; raises ValueError when it has none."""
        if self.quick is None:
            raise ValueError(f"profile {self.name} has no quick variant")
        items = self.items.model_copy(update={"selection": self.quick.selection, "official": self.quick.official})
        recipe = self.recipe.model_copy(update={"max_train_tokens": self.quick.max_train_tokens})
        changes = {"items": items, "recipe": recipe, "budget": self.quick.budget, "variant": "quick", "quick": None}
        return self.model_copy(update=changes)
