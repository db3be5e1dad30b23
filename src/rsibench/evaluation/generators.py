"""Item generators by the name a profile uses. The same plan always gives the same items."""

from __future__ import annotations

from rsibench.errors import SpecError
from rsibench.spec.item import Item, Split
from rsibench.spec.profile import ItemsPlan


def make_items(plan: ItemsPlan, split: Split) -> list[Item]:
    """The items of a split, in order. Raises SpecError for an unknown generator, family or too many items."""
    if plan.generator != "pocket":
        raise SpecError(
            f"there is no item generator {plan.generator!r}", where="items.generator", fix="the only one is `pocket`"
        )
    from rsibench.evaluation import pocket  # noqa: PLC0415 - generators are loaded when a profile asks for them

    return pocket.make_items(plan, split)
