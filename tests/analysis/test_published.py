"""The shipped facts of the published results, what follows from them, and the nulls of the headline rates.

Expected figures are those that the paper, its site and the leaderboard print.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from pydantic import ValidationError

from rsibench.analysis.process_rates import ProcessRate
from rsibench.analysis.proportion import wilson
from rsibench.analysis.published import PublishedResults, Role, load_published
from rsibench.analysis.published_comparisons import ProfileComparison, compare_profile, effective_trials
from rsibench.analysis.published_facts import CellFacts, cell_facts
from rsibench.analysis.published_null import (
    Assumptions,
    AttemptsAssumption,
    RateAssumption,
    attempt_lists,
    extreme_list,
    headline_nulls,
)

MATRIX = {
    "base": ("12", "7", "0", "1.12", "61", "30"),
    "opus-4.8": ("46", "5", "2", "10.11", "56", "40.83"),
    "sonnet-5": ("35", "22", "4", "5.62", "52", "49.17"),
    "gpt-5.6-sol": ("33", "15", "9", "20.22", "65", "53.33"),
    "gpt-5.6-terra": ("42", "6", "1", "12.36", "64", "33.33"),
    "kimi-k3": ("50", "11", "17", "9.00", "55", "44.17"),
}


@pytest.fixture(scope="module")
def published() -> PublishedResults:
    return load_published()


@pytest.fixture(scope="module")
def facts(published: PublishedResults) -> CellFacts:
    return cell_facts(published)


@pytest.fixture(scope="module")
def comparisons(published: PublishedResults) -> dict[str, ProfileComparison]:
    return {profile.short: compare_profile(published, profile) for profile in published.profiles}


def test_the_matrix_is_the_published_one(published: PublishedResults) -> None:
    for researcher, scores in MATRIX.items():
        found = [published.cell(researcher, profile.profile).score_percent for profile in published.profiles]
        assert found == [Decimal(score) for score in scores]


def test_hours_and_dollars(facts: CellFacts) -> None:
    assert facts.settings == 24
    assert [str(facts.hours.median), str(facts.hours.least), str(facts.hours.most)] == ["6.55", "1.14", "14.91"]
    assert facts.tinker_usd.median == Decimal("62.51")
    assert (facts.tinker_usd.least, facts.tinker_usd.most) == (Decimal("4.80"), Decimal("363.77"))


def test_nobody_leads_everywhere_and_swe_has_three_winners(facts: CellFacts) -> None:
    assert facts.leads_everywhere == ()
    assert facts.different_swe_winners == 3
    assert [profile.winners for profile in facts.profiles[:3]] == [("opus-4.8",), ("sonnet-5",), ("gpt-5.6-sol",)]


def test_spread_on_aime_and_cells_below_base(facts: CellFacts) -> None:
    assert facts.profiles[-1].spread_points == Decimal("20.00")
    assert len(facts.below_base) == 4


def test_composites_are_the_leaderboards_totals(published: PublishedResults, facts: CellFacts) -> None:
    for researcher, total in published.totals.items():
        assert facts.composites[researcher] == total


def test_process_counts_are_the_published_ones(published: PublishedResults) -> None:
    process = published.process
    assert (process.discovered, process.settings) == (14, 24)
    assert (process.went_on, process.regressed, process.recovered) == (23, 18, 5)
    assert (process.attempts_median, process.attempts_least, process.attempts_most) == (Decimal("4.5"), 2, 15)
    assert list(process.improved_by_profile.values()) == [1, 2, 1, 3, 4, 3]


def test_a_changed_fact_is_noticed(published: PublishedResults) -> None:
    data = published.model_dump()
    data["cells"][3]["successes_inferred"] = 2
    with pytest.raises(ValidationError, match="2 of 89 is not"):
        PublishedResults.model_validate(data)
    missing = published.model_dump()
    missing["cells"] = missing["cells"][1:]
    with pytest.raises(ValidationError, match="one cell for every researcher"):
        PublishedResults.model_validate(missing)
    process = published.model_dump()
    process["process"]["regressed"] = 19
    with pytest.raises(ValidationError, match="must add up"):
        PublishedResults.model_validate(process)


def test_single_decodes_have_plain_wilson_intervals(comparisons: dict[str, ProfileComparison]) -> None:
    opus = next(entry for entry in comparisons["SWE-V"].cells if entry.cell.researcher == "opus-4.8")
    assert opus.interval == wilson(46, 100)
    assert opus.gain == pytest.approx(0.34)
    assert opus.gain_interval.low > 0.2


def test_repeated_decodes_count_less(published: PublishedResults, comparisons: dict[str, ProfileComparison]) -> None:
    aime = published.profiles[-1]
    assert effective_trials(aime) == pytest.approx(120 / 2.5)
    sol = next(entry for entry in comparisons["AIME"].cells if entry.cell.researcher == "gpt-5.6-sol")
    assert sol.interval.width > wilson(64, 120).width


def test_a_score_that_is_no_number_of_passes_is_not_tested(comparisons: dict[str, ProfileComparison]) -> None:
    terminal = comparisons["TB2"]
    assert terminal.left_out == ("kimi-k3",)
    assert "kimi-k3" not in {entry.name for entry in terminal.ranking.sets}
    assert next(entry for entry in terminal.cells if entry.cell.researcher == "kimi-k3").base_p is None


def test_what_the_data_separate(comparisons: dict[str, ProfileComparison]) -> None:
    for short in ("GPQA", "AIME"):
        assert comparisons[short].ranking.separable == ()
    verified = comparisons["SWE-V"].ranking
    assert {pair.worse for pair in verified.separable} == {"base"}
    assert len(verified.leaders) == 5
    assert all(0.09 < one.detectable_difference < 0.30 for one in comparisons.values())


@pytest.mark.parametrize("longest", [True, False])
def test_extreme_lists_agree_with_the_summary_and_no_other_list_is_more_extreme(
    published: PublishedResults, longest: bool
) -> None:
    process = published.process
    chosen = extreme_list(process, longest=longest)
    assert len(chosen) == 24
    assert [float(value) for value in (chosen.min(), np.median(chosen), chosen.max())] == [2, 4.5, 15]
    others = attempt_lists(process, AttemptsAssumption.DRAWN, np.random.default_rng(1), 2_000)
    rates = (1 - 1 / others).mean(axis=1)
    edge = float((1 - 1 / chosen).mean())
    assert (rates <= edge + 1e-12).all() if longest else (rates >= edge - 1e-12).all()


def test_drawn_lists_agree_with_the_summary(published: PublishedResults) -> None:
    lists = attempt_lists(published.process, AttemptsAssumption.DRAWN, np.random.default_rng(2), 500)
    assert lists.shape == (500, 24)
    assert set(lists.min(axis=1)) == {2}
    assert set(lists.max(axis=1)) == {15}
    assert set(np.median(lists, axis=1)) == {4.5}


def test_the_headline_rates_are_near_what_chance_gives(published: PublishedResults) -> None:
    found = headline_nulls(published, Assumptions())
    discovery, regression = found.of(ProcessRate.DISCOVERY), found.of(ProcessRate.REGRESSION)
    assert discovery.observed.rate == pytest.approx(0.5833, abs=5e-5)
    assert regression.observed.rate == pytest.approx(0.7826, abs=5e-5)
    assert discovery.expected == pytest.approx(0.72, abs=0.015)
    assert regression.expected == pytest.approx(0.92, abs=0.015)
    assert discovery.excess < 0
    assert regression.excess < 0
    assert min(discovery.p_value, regression.p_value) > 0.05


def test_more_attempts_and_fewer_ties_make_chance_larger(published: PublishedResults) -> None:
    def expected(attempts: AttemptsAssumption, rates: RateAssumption, icc: float) -> float:
        return headline_nulls(published, Assumptions(attempts, rates, icc), 1_000).of(ProcessRate.DISCOVERY).expected

    drawn = expected(AttemptsAssumption.DRAWN, RateAssumption.OFFICIAL, 0.0)
    assert expected(AttemptsAssumption.SHORTEST, RateAssumption.OFFICIAL, 0.0) < drawn
    assert expected(AttemptsAssumption.LONGEST, RateAssumption.OFFICIAL, 0.0) > drawn
    assert expected(AttemptsAssumption.DRAWN, RateAssumption.BASE, 0.5) < drawn


def test_roles(published: PublishedResults) -> None:
    assert len(published.cells_of_role(Role.PAPER)) == 24
    assert [row.researcher for row in published.of_role(Role.BASE, Role.LATER)] == ["base", "kimi-k3"]
