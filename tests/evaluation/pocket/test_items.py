"""The items of a split: same plan, same items; disjoint splits; hidden wordings only where they may be."""

from __future__ import annotations

import pytest

from rsibench.errors import SpecError
from rsibench.evaluation.pocket import make_items
from rsibench.evaluation.pocket.hidden import hidden_templates
from rsibench.evaluation.pocket.kit.catalogue import FAMILIES
from rsibench.evaluation.pocket.kit.dice import Dice
from rsibench.evaluation.pocket.kit.rows import make_rows
from rsibench.spec.catalogue import load_profile
from rsibench.spec.item import Item, Split
from rsibench.spec.profile import ItemsPlan, SplitPlan


def plan(
    selection: int = 24, official: int = 64, hidden: float = 0.334, families: tuple[str, ...] = tuple(FAMILIES)
) -> ItemsPlan:
    return ItemsPlan(
        generator="pocket",
        version="1",
        families=families,
        selection=SplitPlan(per_family=selection),
        official=SplitPlan(per_family=official, hidden_template_share=hidden),
    )


def everything(asked: ItemsPlan) -> list[Item]:
    return make_items(asked, Split.SELECTION) + make_items(asked, Split.OFFICIAL)


def test_the_same_plan_gives_the_same_items() -> None:
    assert [item.item_digest for item in everything(plan())] == [item.item_digest for item in everything(plan())]


def test_the_shipped_profile_has_items_for_both_variants() -> None:
    profile = load_profile("pocket")
    for variant in (profile, profile.as_quick()):
        for split, part in ((Split.SELECTION, variant.items.selection), (Split.OFFICIAL, variant.items.official)):
            assert len(make_items(variant.items, split)) == part.per_family * len(variant.items.families)


def test_a_smaller_plan_gives_the_first_items_of_a_larger_one() -> None:
    small, large = make_items(plan(official=12), Split.OFFICIAL), make_items(plan(), Split.OFFICIAL)
    assert {item.item_id: item for item in small}.items() <= {item.item_id: item for item in large}.items()


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_has_well_over_three_hundred_problems_and_no_item_repeats(name: str) -> None:
    dice = Dice("distinct", name)
    assert len({FAMILIES[name].draw(dice).core for _ in range(6000)}) >= 600
    items = everything(plan(families=(name,)))
    assert len({item.item_id for item in items}) == len({item.prompt for item in items}) == 24 + 64


def test_no_prompt_is_in_two_splits_or_in_the_kits_rows() -> None:
    asked = plan()
    selection = {item.prompt for item in make_items(asked, Split.SELECTION)}
    official = {item.prompt for item in make_items(asked, Split.OFFICIAL)}
    rows = {
        row["messages"][0]["content"] for seed in range(3) for row in make_rows(list(FAMILIES), "worked", 200, seed)
    }
    assert not selection & official
    assert not rows & (selection | official)


def test_a_third_of_the_official_items_use_hidden_wordings_in_every_family_and_no_selection_item_does() -> None:
    for name in FAMILIES:
        items = make_items(plan(families=(name,)), Split.OFFICIAL)
        hidden = [item for item in items if item.template.startswith("hidden-")]
        assert abs(len(hidden) - len(items) / 3) <= 1
        assert {item.template.removeprefix("hidden-") for item in hidden} == set(hidden_templates(name))
    assert not any(item.template.startswith("hidden-") for item in make_items(plan(), Split.SELECTION))


def test_every_hidden_wording_differs_from_the_public_ones_in_its_fixed_words() -> None:
    for name, family in FAMILIES.items():
        assert not set(hidden_templates(name).values()) & set(family.templates.values())
        assert len(family.templates) >= 3
        assert len(hidden_templates(name)) >= 2


def test_an_unknown_family_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SpecError, match=r"nonsense.*known: .*shop"):
        make_items(plan(families=("shop", "nonsense")), Split.SELECTION)


def test_another_generator_version_is_refused() -> None:
    with pytest.raises(SpecError, match="version"):
        make_items(plan().model_copy(update={"version": "0"}), Split.SELECTION)


def test_a_family_listed_twice_is_refused() -> None:
    with pytest.raises(SpecError, match="twice"):
        make_items(plan(families=("shop", "shop")), Split.SELECTION)


def test_hidden_wordings_are_refused_for_the_selection_split() -> None:
    asked = plan().model_copy(update={"selection": SplitPlan(per_family=4, hidden_template_share=0.5)})
    with pytest.raises(SpecError, match="selection"):
        make_items(asked, Split.SELECTION)


def test_more_items_than_a_family_has_are_refused_with_the_number_it_has() -> None:
    with pytest.raises(SpecError, match=r"has only [1-9][0-9]* official problems, 1000000 were asked for"):
        make_items(plan(official=1_000_000, families=("shop",)), Split.OFFICIAL)
