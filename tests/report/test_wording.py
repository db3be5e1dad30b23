"""Number formats and the sentence that tells the outcome."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsibench.report.wording import (
    amount,
    dollars,
    duration,
    interval,
    label_text,
    outcome_text,
    percent,
    points,
    selection_text,
)
from rsibench.run import summarise
from rsibench.run.result import Difference, RunResult
from rsibench.testing.records import MadeUp, made_up_record
from rsibench.units import Account

SMALL = MadeUp(families=("sums", "dates"), attempts=2, selected=1, selection_per_family=6, official_per_family=9)


def result(**changes: object) -> RunResult:
    return made_up_record(SMALL).result.model_copy(update=changes)


def difference(mean: float, low: float, high: float) -> Difference:
    return Difference(mean=mean, interval_low=low, interval_high=high, p_value=0.5, items=18, method="made up")


def read_points(text: str) -> float:
    return float(text.replace("−", "-"))


@given(st.floats(-1, 1))
def test_points_round_trip_and_their_sign_is_never_wrong(value: float) -> None:
    text = points(value)
    assert abs(read_points(text) - 100 * value) <= 0.0501
    assert text[0] == ("+" if value > 0 else "−" if value < 0 else "0")


@given(st.floats(0, 1))
def test_percent_round_trips(share: float) -> None:
    assert abs(float(percent(share).removesuffix(" %")) - 100 * share) <= 0.0501


@given(st.integers(1, 10**12))
def test_money_that_was_spent_never_reads_as_nothing(micro_usd: int) -> None:
    text = dollars(micro_usd)
    assert re.search(r"[1-9]", text), text
    if "under" not in text:
        assert float(text.removeprefix("$").replace(",", "")) == pytest.approx(micro_usd / 1e6, rel=0.5, abs=0.005)


def test_missing_numbers_say_what_they_are() -> None:
    assert (percent(None), dollars(None), interval(None, None)) == ("withheld", "unknown", "unknown")


@given(st.integers(0, 10**6))
def test_durations_add_up(seconds: int) -> None:
    units = {"h": 3600, "min": 60, "s": 1}
    told = sum(int(number) * units[unit] for number, unit in re.findall(r"(\d+) (h|min|s)", duration(seconds)))
    assert 0 <= seconds - told < 60
    assert told == seconds or seconds >= 3600


def test_amounts_carry_their_unit() -> None:
    assert amount(Account.WALL, 90_000) == "1 min 30 s"
    assert amount(Account.TRAINING, 2_500_000) == "$2.50"
    assert amount(Account.ATTEMPTS, 3) == "3"


def test_a_clear_gain_is_one_sentence_with_its_numbers() -> None:
    found = result(official_difference=difference(0.455, 0.41, 0.502))
    text = outcome_text(found)
    assert text.count(". ") == 0
    for piece in ("attempt 1", "on 18 official items", "+45.5 points", "+41.0 to +50.2"):
        assert piece in text
    assert percent(found.base_official.rate) in text
    assert percent(found.selected_official.rate) in text


@given(st.floats(-0.4, 0.4), st.floats(0, 0.3), st.floats(0, 0.3))
def test_the_remark_fits_the_interval(mean: float, below: float, above: float) -> None:
    low, high = mean - below, mean + above
    text = outcome_text(result(official_difference=difference(mean, low, high)))
    assert ("includes 0" in text) == (low <= 0 <= high)
    assert ("worse than base." in text and "better or" not in text) == (high < 0)


def test_a_kept_base_claims_no_improvement() -> None:
    record = made_up_record(replace(SMALL, selected=None))
    text = outcome_text(record.result)
    assert "No attempt was selected" in text
    assert "no improvement" in text
    assert percent(record.result.base_official.rate) in text
    assert "points" not in text


def test_a_withheld_score_shows_its_bounds_and_no_rate() -> None:
    found = made_up_record(replace(SMALL, broken_share=0.4, seed=3)).result
    text = outcome_text(found)
    assert found.selected_official.rate is None
    assert "withheld" in text
    assert "points" not in text
    for score in (found.base_official, found.selected_official):
        assert interval(score.bound_low, score.bound_high) in text
        assert percent(score.coverage) in text


def test_scores_without_a_comparison_claim_none() -> None:
    text = outcome_text(result(official_difference=None))
    assert "no difference is claimed" in text
    assert "points" not in text


def test_who_chose_is_told() -> None:
    assert "named by the researcher" in selection_text(result(selection_rule="explicit"))
    assert "rule declared before the run" in selection_text(result(selection_rule="best-selection-score-earliest"))
    untried = selection_text(result(selection_rule="best-selection-score-earliest", selected_attempt=None))
    assert "no attempt has a selection score" in untried


@pytest.mark.parametrize(
    "label",
    [summarise.UNISOLATED, summarise.QUICK, summarise.NEAR_NOOP, summarise.BASE_KEPT, summarise.MODIFIED_STUDENT],
)
def test_every_label_that_a_run_can_carry_is_explained(label: str) -> None:
    assert label_text(label) != label_text("a label that nobody gave")


def test_an_unknown_reason_for_closing_is_told_as_it_is() -> None:
    assert "something new" in selection_text(result(closed_because="something new"))
