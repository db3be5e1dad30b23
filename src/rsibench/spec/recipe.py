"""The recipe: the one fixed LoRA supervised fine-tuning, and which of its knobs a researcher may turn, how far."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from rsibench.spec.frozen import Frozen


class Knob(Frozen):
    """A number that `run_config.json` may set within bounds; equal bounds lock it."""

    default: float
    minimum: float
    maximum: float
    whole: bool = False
    """Only whole numbers are accepted."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.minimum <= self.default <= self.maximum:
            raise ValueError("a knob needs minimum <= default <= maximum")
        return self

    @property
    def locked(self) -> bool:
        """True when the researcher cannot change it."""
        return self.minimum == self.maximum


class Knobs(Frozen):
    """Every key that `run_config.json` may hold."""

    learning_rate: Knob
    epochs: Knob
    lora_rank: Knob


class LoraShape(Frozen):
    """Where the adapter sits. The unembedding is never trained (such adapters often do not load elsewhere)."""

    alpha: int = Field(gt=0)
    targets: tuple[str, ...] = Field(min_length=1)
    top_layers: int | None = Field(default=None, gt=0)
    train_unembed: Literal[False] = False


class Optimizer(Frozen):
    """AdamW in full, with a linear warm-up and a linear decay; no gradient clipping, so that backends agree."""

    beta1: float = Field(ge=0, lt=1)
    beta2: float = Field(ge=0, lt=1)
    eps: float = Field(gt=0)
    weight_decay: float = Field(ge=0)
    warmup_fraction: float = Field(ge=0, le=1)
    final_learning_rate_fraction: float = Field(ge=0, le=1)


class Recipe(Frozen):
    """Fixed LoRA-SFT: a token budget rather than a wall-clock one, so that a slow machine trains the same adapter."""

    version: str
    lora: LoraShape
    optimizer: Optimizer
    knobs: Knobs
    batch_tokens: int = Field(gt=0)
    """Most tokens a batch may hold, padding included."""
    max_train_tokens: int = Field(gt=0)
    """Most tokens an attempt may train on: tokens of all rows times epochs."""
    max_row_tokens: int = Field(gt=0)
    """A longer row is refused, never truncated."""
    near_noop_delta_norm: float = Field(ge=0)
    """An adapter whose delta norm is below this is labelled a near no-op."""


class RunConfig(Frozen):
    """A submission's resolved configuration: every knob with its value."""

    learning_rate: float
    epochs: int
    lora_rank: int
