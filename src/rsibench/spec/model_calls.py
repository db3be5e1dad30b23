"""Calls of an outside model: the wires they are made in, the tokens they use, and what those cost.

Invariant: a cost is exact until its last step, which rounds the whole call up to a micro-dollar once; tokens of a kind
that has no price cost an error, never nothing. Not here: when something is reserved or charged (`proxy/meter.py`).
"""

from __future__ import annotations

from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import StrEnum

from pydantic import Field

from rsibench.errors import UnknownPrice
from rsibench.spec.budget import Usd
from rsibench.spec.frozen import Frozen


class Wire(StrEnum):
    """The protocols in which a model can be asked."""

    MESSAGES = "messages"
    """Anthropic Messages."""
    RESPONSES = "responses"
    """OpenAI Responses."""
    CHAT = "chat"
    """OpenAI Chat Completions."""


class CallUsage(Frozen):
    """Tokens of one call. The first four are disjoint parts of what was read; `reasoning` is a part of `output`."""

    input: int = Field(default=0, ge=0)
    cached: int = Field(default=0, ge=0)
    written: int = Field(default=0, ge=0)
    """Read and kept in the provider's cache for its shortest time."""
    written_1h: int = Field(default=0, ge=0)
    """Read and kept in the provider's cache for an hour."""
    output: int = Field(default=0, ge=0)
    reasoning: int = Field(default=0, ge=0)

    @property
    def read(self) -> int:
        """All tokens read, however they are charged."""
        return self.input + self.cached + self.written + self.written_1h

    def __add__(self, other: CallUsage) -> CallUsage:
        mine, yours = self.model_dump(), other.model_dump()
        return CallUsage(**{name: mine[name] + yours[name] for name in mine})


class CallRates(Frozen):
    """Dollars a million tokens of each kind; None is unknown, never free."""

    input: Usd | None = None
    cached_input: Usd | None = None
    cache_write: Usd | None = None
    cache_write_1h: Usd | None = None
    output: Usd | None = None


class LongContext(Frozen):
    """Other rates for the whole of a call that reads more than `above_input_tokens`."""

    above_input_tokens: int = Field(gt=0)
    rates: CallRates


class CallPrice(CallRates):
    """The prices of one model."""

    long_context: LongContext | None = None

    def rates_for(self, read_tokens: int) -> CallRates:
        """The rates of a call that reads so many tokens."""
        long = self.long_context
        return long.rates if long is not None and read_tokens > long.above_input_tokens else self


class ModelPriceTable(Frozen):
    """Prices of outside models on one date. `sources` says where each was seen."""

    name: str
    dated: date
    sources: dict[str, str]
    models: dict[str, CallPrice]


class ModelPrices(Frozen):
    """The prices that one run's calls are charged at, resolved and recorded before the first call."""

    table: str
    dated: date
    models: dict[str, CallPrice]

    def cost_micro_usd(self, model: str, usage: CallUsage) -> int:
        """What `usage` costs in micro-dollars, rounded up once. Raises UnknownPrice."""
        rates = self._price(model).rates_for(usage.read)
        counts = {
            "input": usage.input,
            "cached_input": usage.cached,
            "cache_write": usage.written,
            "cache_write_1h": usage.written_1h,
            "output": usage.output,
        }
        exact = sum((count * self._rate(model, rates, name) for name, count in counts.items() if count), Decimal(0))
        return int(exact.to_integral_value(rounding=ROUND_CEILING))

    def most_micro_usd(self, model: str, read_tokens: int, output_tokens: int, *, may_write: bool) -> int:
        """The most that reading and writing so many tokens can cost, whatever part of them the cache takes."""
        rates = self._price(model).rates_for(read_tokens)
        exact = read_tokens * self._dearest(model, rates, may_write) + output_tokens * self._rate(
            model, rates, "output"
        )
        return int(exact.to_integral_value(rounding=ROUND_CEILING))

    def output_tokens_for(self, model: str, read_tokens: int, micro_usd: int, *, may_write: bool) -> int:
        """The most output tokens that `micro_usd` pays for after reading so many; negative when even that is too much.

        Raises UnknownPrice.
        """
        rates = self._price(model).rates_for(read_tokens)
        left = micro_usd - read_tokens * self._dearest(model, rates, may_write)
        rate = self._rate(model, rates, "output")
        if rate == 0:
            return -1 if left < 0 else 1 << 31
        return int((left / rate).to_integral_value(rounding=ROUND_FLOOR))

    def require(self, model: str) -> None:
        """Raises UnknownPrice unless plain calls of `model` can be charged."""
        self._rate(model, self._price(model), "input")
        self._rate(model, self._price(model), "output")

    def _dearest(self, model: str, rates: CallRates, may_write: bool) -> Decimal:
        """The highest rate at which a token that is read may be charged."""
        plain = self._rate(model, rates, "input")
        written = (rates.cache_write, rates.cache_write_1h) if may_write else ()
        return max(plain, *(rate for rate in written if rate is not None), plain)

    def _price(self, model: str) -> CallPrice:
        price = self.models.get(model)
        if price is None:
            raise self._unknown(f"no prices for {model}")
        return price

    def _rate(self, model: str, rates: CallRates, kind: str) -> Decimal:
        rate: Decimal | None = getattr(rates, kind)
        if rate is None:
            raise self._unknown(f"no {kind} price for {model}")
        return rate

    def _unknown(self, what: str) -> UnknownPrice:
        return UnknownPrice(
            what,
            where=f"price table {self.table} of {self.dated}",
            fix="add the price to a table of your own or choose a priced model; nothing was spent",
        )
