"""Dated price tables. A price that is not in the table is unknown, and nothing may be spent at an unknown price."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from rsibench.errors import UnknownPrice
from rsibench.spec.budget import Usd
from rsibench.spec.frozen import Frozen
from rsibench.units import token_cost_micro_usd


class ModelPrice(Frozen):
    """Dollars a million tokens; None is unknown, never free."""

    prefill: Usd | None = None
    sample: Usd | None = None
    train: Usd | None = None


class PriceTable(Frozen):
    """Prices of one service on one date."""

    name: str
    dated: date
    source: str
    models: dict[str, ModelPrice]


class Pricing(Frozen):
    """The prices one run is charged at, resolved. `shadow` says that local compute is charged as if it were hosted."""

    table: str
    dated: date
    model: str
    shadow: bool
    price: ModelPrice

    def training_micro_usd(self, tokens: int) -> int:
        """Cost of training on `tokens`, in micro-dollars; raises UnknownPrice."""
        return token_cost_micro_usd(tokens, self._known("train"))

    def sampling_micro_usd(self, prompt_tokens: int, output_tokens: int) -> int:
        """Cost of reading `prompt_tokens` and writing `output_tokens`, in micro-dollars; raises UnknownPrice."""
        prefill = token_cost_micro_usd(prompt_tokens, self._known("prefill"))
        return prefill + token_cost_micro_usd(output_tokens, self._known("sample"))

    def _known(self, activity: str) -> Usd:
        price: Usd | None = getattr(self.price, activity)
        if price is None:
            raise UnknownPrice(
                f"no {activity} price for {self.model}",
                where=f"price table {self.table} of {self.dated}",
                fix="add the price to the table or choose a priced model; nothing was spent",
            )
        return price


class Cost(NamedTuple):
    """What something cost, by account, in micro-dollars."""

    training_micro_usd: int = 0
    sampling_micro_usd: int = 0
