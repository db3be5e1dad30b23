"""YAML specs: what is refused, and where the error points."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.errors import SpecError, UnknownPrice
from rsibench.spec.catalogue import load_price_table, load_profile, load_student, profile_names, resolve_pricing
from rsibench.spec.load import load_model, parse_model
from rsibench.spec.prices import ModelPrice, PriceTable, Pricing
from rsibench.spec.profile import PriceReference, Profile
from rsibench.spec.recipe import Knob

PRICES = """name: test
dated: 2026-06-30
source: a test
models:
  some/model: {prefill: "0.10", sample: "0.20", train: "0.30"}
"""


def test_a_duplicate_key_is_refused_with_its_line() -> None:
    with pytest.raises(SpecError, match="given twice") as caught:
        parse_model(PriceTable, PRICES + "name: again\n", name="prices.yaml")
    assert caught.value.where == "prices.yaml:6"


def test_an_unknown_key_is_refused_with_file_line_and_key() -> None:
    text = PRICES.replace('train: "0.30"', 'tarin: "0.30"')
    with pytest.raises(SpecError, match=r"models\.some/model\.tarin") as caught:
        parse_model(PriceTable, text, name="prices.yaml")
    assert caught.value.where == "prices.yaml:5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [", "not valid YAML"),
        ("- a\n- b\n", "mapping"),
        ("name: test\nname2: \x00\n", "not valid YAML"),
        (PRICES.replace('"0.10"', '"-0.10"'), "greater than or equal to 0"),
        (PRICES.replace('"0.10"', ".nan"), "finite"),
        ("", "mapping"),
    ],
)
def test_other_bad_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        parse_model(PriceTable, text, name="prices.yaml")


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read") as caught:
        load_model(PriceTable, tmp_path / "absent.yaml")
    assert str(tmp_path / "absent.yaml") in str(caught.value)


def test_every_shipped_file_loads_and_fits_together() -> None:
    for name in profile_names():
        profile = load_profile(name)
        assert profile.name == name
        assert load_student(profile.student).name == profile.student
        assert load_price_table(profile.prices.table).name == profile.prices.table
        assert resolve_pricing(profile.prices).training_micro_usd(1_000_000) > 0


def test_a_misspelt_profile_gets_a_suggestion() -> None:
    with pytest.raises(SpecError, match="did you mean pocket"):
        load_profile("pockett")


def test_a_model_without_prices_is_refused_not_free() -> None:
    with pytest.raises(UnknownPrice, match="no prices for"):
        resolve_pricing(PriceReference(table="tinker-2026-06", model="nobody/nothing", shadow=True))


def test_an_activity_without_a_price_is_refused_not_free() -> None:
    table = load_price_table("tinker-2026-06")
    pricing = Pricing(
        table=table.name, dated=table.dated, model="m", shadow=False, price=ModelPrice(prefill=None, sample=None)
    )
    with pytest.raises(UnknownPrice, match="no train price"):
        pricing.training_micro_usd(1)
    with pytest.raises(UnknownPrice, match="no prefill price"):
        pricing.sampling_micro_usd(1, 1)


def test_prices_are_per_million_tokens_and_round_up() -> None:
    pricing = resolve_pricing(PriceReference(table="tinker-2026-06", model="Qwen/Qwen3-8B", shadow=True))
    assert pricing.training_micro_usd(1_000_000) == 400_000
    assert pricing.training_micro_usd(1) == 1
    assert pricing.sampling_micro_usd(1_000_000, 1_000_000) == 130_000 + 400_000


def test_a_knob_must_be_ordered() -> None:
    with pytest.raises(ValueError, match="minimum <= default <= maximum"):
        Knob(default=2, minimum=3, maximum=4)


def test_quick_is_another_protocol_of_the_same_benchmark() -> None:
    full = load_profile("pocket")
    quick = full.as_quick()
    assert quick.digest() != full.digest()
    assert quick.recipe.optimizer == full.recipe.optimizer
    assert quick.items.families == full.items.families
    assert quick.budget.wall_seconds < full.budget.wall_seconds
    assert Profile.model_validate_json(quick.model_dump_json()) == quick
    with pytest.raises(ValueError, match="no quick variant"):
        quick.as_quick()
