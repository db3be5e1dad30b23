"""The shipped data files: profiles, students, price tables. A path to a YAML file works in place of a name."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from importlib import resources
from pathlib import Path

from rsibench.errors import SpecError, UnknownPrice
from rsibench.spec.campaign import CampaignSpec
from rsibench.spec.frozen import Frozen
from rsibench.spec.load import load_model
from rsibench.spec.model_calls import ModelPrices, ModelPriceTable
from rsibench.spec.prices import PriceTable, Pricing
from rsibench.spec.profile import PriceReference, Profile
from rsibench.spec.student import StudentSpec

_SUFFIX = ".yaml"


def profile_names() -> list[str]:
    """Names of the shipped profiles."""
    return _names("profiles")


def load_profile(name: str) -> Profile:
    """A shipped profile by name, or one from a YAML file."""
    return _load(Profile, "profiles", name)


def load_student(name: str) -> StudentSpec:
    """A shipped student by name, or one from a YAML file."""
    return _load(StudentSpec, "models", name)


def load_price_table(name: str) -> PriceTable:
    """A shipped price table by name, or one from a YAML file."""
    return _load(PriceTable, "prices", name)


def campaign_names() -> list[str]:
    """Names of the shipped campaigns."""
    return _names("campaigns")


def load_campaign(name: str) -> CampaignSpec:
    """A shipped campaign by name, or one from a YAML file."""
    return _load(CampaignSpec, "campaigns", name)


def load_model_prices(name: str) -> ModelPriceTable:
    """A shipped price table of outside models by name, or one from a YAML file."""
    return _load(ModelPriceTable, "prices", name)


def resolve_model_prices(table: str, models: Collection[str]) -> ModelPrices:
    """The prices of `models` in a table. Raises UnknownPrice when one of them cannot be charged."""
    loaded = load_model_prices(table)
    found = {model: loaded.models[model] for model in models if model in loaded.models}
    prices = ModelPrices(table=loaded.name, dated=loaded.dated, models=found)
    for model in models:
        prices.require(model)
    return prices


def resolve_pricing(reference: PriceReference) -> Pricing:
    """The prices a profile is charged at. Raises UnknownPrice when the table does not list the model."""
    table = load_price_table(reference.table)
    price = table.models.get(reference.model)
    if price is None:
        raise UnknownPrice(
            f"no prices for {reference.model}",
            where=f"price table {table.name} of {table.dated}",
            fix=f"choose one of {', '.join(sorted(table.models))}, or add it to a table of your own",
        )
    return Pricing(table=table.name, dated=table.dated, model=reference.model, shadow=reference.shadow, price=price)


def _folder(kind: str) -> Path:
    return Path(str(resources.files("rsibench") / kind))


def _names(kind: str) -> list[str]:
    return sorted(path.stem for path in _folder(kind).glob(f"*{_SUFFIX}"))


def _load[M: Frozen](model: type[M], kind: str, name: str) -> M:
    if name.endswith((_SUFFIX, ".yml")) or "/" in name:
        return load_model(model, Path(name))
    path = _folder(kind) / f"{name}{_SUFFIX}"
    if not path.is_file():
        known = _names(kind)
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}, or a path to a YAML file"
        raise SpecError(f"there is no {name!r} among the {kind}", where=kind, fix=hint)
    return load_model(model, path)
