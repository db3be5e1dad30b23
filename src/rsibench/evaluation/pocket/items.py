"""The items of the pocket profile: a plan and a split in, the same items out on every machine.

Invariant: a split only holds problems of its own part (see `kit.partition`), so selection, official and the kit's
training problems are disjoint for every plan; hidden wordings appear where the plan gives a hidden share
and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pydantic import JsonValue

from rsibench.errors import SpecError
from rsibench.evaluation.pocket.hidden import hidden_templates
from rsibench.evaluation.pocket.kit.catalogue import FAMILIES
from rsibench.evaluation.pocket.kit.dice import Dice
from rsibench.evaluation.pocket.kit.family import Family, Problem
from rsibench.evaluation.pocket.kit.partition import OFFICIAL, SELECTION, part_of
from rsibench.spec.item import Item, Split
from rsibench.spec.profile import ItemsPlan, SplitPlan

GENERATOR = "pocket"
VERSION = "1"
_PARTS = {Split.SELECTION: SELECTION, Split.OFFICIAL: OFFICIAL}
_DRAWS_PER_ITEM = 500
"""So many draws without a new problem mean that the part has no more of them."""


def make_items(plan: ItemsPlan, split: Split) -> list[Item]:
    """The split's items, family by family. Raises SpecError for an unknown family or version, or too many."""
    _check(plan)
    share = plan.selection if split is Split.SELECTION else plan.official
    return [item for name in plan.families for item in _family_items(plan, split, share, FAMILIES[name])]


def _check(plan: ItemsPlan) -> None:
    if (plan.generator, plan.version) != (GENERATOR, VERSION):
        raise SpecError(
            f"generator {plan.generator!r} version {plan.version!r} is not what this release makes",
            where="items.version",
            fix=f"use generator {GENERATOR!r} with version {VERSION!r}, or the release that the items were made with",
        )
    unknown = [name for name in plan.families if name not in FAMILIES]
    if unknown:
        raise SpecError(
            f"unknown families: {', '.join(unknown)}", where="items.families", fix=f"known: {', '.join(FAMILIES)}"
        )
    if len(set(plan.families)) != len(plan.families):
        raise SpecError("a family is listed twice", where="items.families", fix="list every family once")
    if plan.selection.hidden_template_share:
        raise SpecError(
            "the selection split may not show official-only wordings",
            where="items.selection.hidden_template_share",
            fix="leave it out",
        )


def _family_items(plan: ItemsPlan, split: Split, share: SplitPlan, family: Family) -> Iterator[Item]:
    dice = Dice(plan.generator, plan.version, split.value, family.name)
    public, hidden = list(family.templates.items()), list(hidden_templates(family.name).items())
    problems = _problems(family, split, dice)
    shown = {False: 0, True: 0}
    for index in range(share.per_family):
        secret = _is_hidden(index, share.hidden_template_share)
        wordings = hidden if secret else public
        name, template = wordings[shown[secret] % len(wordings)]
        shown[secret] += 1
        problem = next(problems, None)
        if problem is None:
            raise SpecError(
                f"family {family.name} has only {index} {split.value} problems, {share.per_family} were asked for",
                where=f"items.{split.value}.per_family",
                fix=f"ask for at most {index}",
            )
        yield Item(
            item_id=f"{GENERATOR}/{family.name}/{split.value}/{index:03d}",
            family=family.name,
            template=f"hidden-{name}" if secret else name,
            prompt=family.prompt(problem, template),
            grader=family.grader,
            expected=cast("JsonValue", problem.expected),
            context=cast("JsonValue", problem.context),
        )


def _is_hidden(index: int, share: float) -> bool:
    """Spreads the hidden share evenly, so that every prefix of a split holds it."""
    return int((index + 1) * share) > int(index * share)


def _problems(family: Family, split: Split, dice: Dice) -> Iterator[Problem]:
    """Different problems of the split's part, until no new one turns up."""
    seen: set[tuple[object, ...]] = set()
    misses = 0
    while misses < _DRAWS_PER_ITEM:
        problem = family.draw(dice)
        if part_of(family.name, problem) == _PARTS[split] and problem.core not in seen:
            seen.add(problem.core)
            misses = 0
            yield problem
        else:
            misses += 1
