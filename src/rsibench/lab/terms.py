"""What a lab session is bound to: the gate's policy, budget, prices, feedback level and selection items.

Of the official split it holds only what the gate must recognise, inside the gate's policy; no view or reply reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from rsibench.gate.leaks.detector import ProtectedIndex
from rsibench.gate.submission import GatePolicy
from rsibench.rendering import Renderer
from rsibench.spec.budget import Budget
from rsibench.spec.item import Item
from rsibench.spec.lock import Protocol
from rsibench.spec.prices import Pricing
from rsibench.spec.profile import FeedbackLevel


class EvaluationBound(NamedTuple):
    """The most tokens that one evaluation on the selection split can read and write."""

    prompt_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class LabTerms:
    """Resolved terms. `estimate_seconds` maps train tokens to seconds from an attempt's claim to its score."""

    profile: str
    variant: str
    gate: GatePolicy
    budget: Budget
    pricing: Pricing
    feedback: FeedbackLevel
    items: Mapping[str, Item]
    evaluation: EvaluationBound
    estimate_seconds: Callable[[int], float]

    @classmethod
    def of(
        cls,
        protocol: Protocol,
        *,
        renderer: Renderer,
        selection: Sequence[Item],
        evaluation: EvaluationBound,
        estimate_seconds: Callable[[int], float],
        protected: ProtectedIndex | None = None,
    ) -> LabTerms:
        """The terms of a locked protocol; `selection` are its selection items."""
        return cls(
            profile=protocol.profile,
            variant=protocol.variant,
            gate=GatePolicy(recipe=protocol.recipe, data=protocol.data, renderer=renderer, protected=protected),
            budget=protocol.budget,
            pricing=protocol.pricing,
            feedback=protocol.feedback,
            items=MappingProxyType({item.item_id: item for item in selection}),
            evaluation=evaluation,
            estimate_seconds=estimate_seconds,
        )
