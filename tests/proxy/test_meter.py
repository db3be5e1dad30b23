"""The meter: exact costs, strict limits under races, and calls that a dead controller left open."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from rsibench.errors import BudgetExceeded, LabError
from rsibench.outcomes import CallOutcome
from rsibench.proxy.meter import CallPlan, Meter
from rsibench.spec.model_calls import CallPrice, CallUsage, ModelPrices, Wire
from rsibench.testing.run_builder import LIMITS, RunBuilder
from rsibench.units import Account

PRICES = ModelPrices(
    table="test", dated=date(2030, 1, 1), models={"m": CallPrice(input=Decimal(1), output=Decimal(10))}
)
PLAN = CallPlan(Wire.CHAT, "m", "m", None, read_tokens=1_000, output_tokens=200, may_write=False)
WORST = 1_000 + 200 * 10


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunBuilder]:
    """A run in research with money for exactly seven worst cases on the researcher's account."""
    limits = LIMITS | {Account.RESEARCHER: 7 * WORST + WORST // 2}
    with RunBuilder(tmp_path, limits=limits) as built:
        built.prepare()
        built.start_research()
        yield built


def meter_of(run: RunBuilder) -> Meter:
    return Meter(run.store, run.ledger, run.journal, PRICES, Account.RESEARCHER)


def test_racing_calls_are_admitted_while_they_fit_and_no_further(run: RunBuilder) -> None:
    meter = meter_of(run)
    meter.open()

    def begin(_: int) -> bool:
        try:
            meter.begin(PLAN)
        except (LabError, BudgetExceeded):
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        admitted = sum(pool.map(begin, range(100)))
    assert admitted == 7
    assert run.ledger.balances()[Account.RESEARCHER].reserved == 7 * WORST
    run.ledger.check_against(run.journal.state())


def test_a_call_costs_its_tokens_and_the_rest_returns(run: RunBuilder) -> None:
    meter = meter_of(run)
    meter.open()
    charged = meter.end(meter.begin(PLAN), CallOutcome.ANSWERED, CallUsage(input=700, output=33))
    assert charged == 700 + 330
    assert meter.end(meter.begin(PLAN), CallOutcome.REJECTED, status=429) == 0
    assert run.ledger.balances()[Account.RESEARCHER].spent == 1_030
    run.ledger.check_against(run.journal.state())


def test_a_call_that_was_open_when_the_controller_died_is_charged_its_reservation(run: RunBuilder) -> None:
    first = meter_of(run)
    first.open()
    first.begin(PLAN)
    assert meter_of(run).open() == 1
    assert run.ledger.balances()[Account.RESEARCHER] == (7 * WORST + WORST // 2, 0, WORST)
    assert meter_of(run).open() == 0


def test_tokens_beyond_the_bound_are_charged_as_far_as_there_is_money(run: RunBuilder) -> None:
    meter = meter_of(run)
    meter.open()
    call = meter.begin(PLAN)
    assert meter.end(call, CallOutcome.ANSWERED, CallUsage(input=5_000, output=100)) == 6_000
    last = meter.begin(PLAN)
    left = run.ledger.balances()[Account.RESEARCHER].available + last.reserved_micro_usd
    assert meter.end(last, CallOutcome.ANSWERED, CallUsage(output=1_000_000)) == left
    run.ledger.check_against(run.journal.state())
