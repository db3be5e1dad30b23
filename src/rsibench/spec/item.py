"""Items and trials: one task of a benchmark, and one decode of it by one checkpoint.

An item's expected answer never leaves the controller. A trial holds what is needed to grade it again offline.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property

from pydantic import Field, JsonValue

from rsibench.outcomes import FinishReason, TrialOutcome
from rsibench.spec.frozen import Frozen


class Split(StrEnum):
    """Which part of a profile an item belongs to."""

    SELECTION = "selection"
    """Its feedback guides the researcher."""
    OFFICIAL = "official"
    """Opened once, after the selection was committed."""


class Item(Frozen):
    """One task: a prompt and what a grader needs. `template` names the wording it was made from."""

    item_id: str
    family: str
    template: str
    prompt: str
    grader: str
    expected: JsonValue
    context: JsonValue = None
    """What the grader needs besides the expected value, such as the schema and rows of a database."""

    @cached_property
    def item_digest(self) -> str:
        """SHA-256 of the whole item, expected answer included; what a lock lists."""
        return self.digest()


class Verdict(Frozen):
    """What a grader says of one output. `extracted` is the answer that was read, None when there was none."""

    outcome: TrialOutcome
    extracted: str | None = None
    reason: str = ""


class Trial(Frozen):
    """One decode of one item: the text, what was read from it, and how it counts."""

    item_id: str
    item_digest: str
    family: str
    template: str
    decode: int = Field(ge=0)
    prompt_digest: str
    output: str
    finish_reason: FinishReason | None
    prompt_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    verdict: Verdict
