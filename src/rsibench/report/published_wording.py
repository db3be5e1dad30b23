"""The sentences of the published results' page and summary: what was found, and what may not be concluded."""

from __future__ import annotations

from decimal import Decimal

from rsibench.analysis.interval import Interval
from rsibench.analysis.null_comparison import NullComparison
from rsibench.analysis.process_rates import CountOf, ProcessRate
from rsibench.analysis.published_comparisons import CellInterval, ProfileComparison
from rsibench.analysis.rank_sets import LEVEL
from rsibench.report.published_view import PublishedView
from rsibench.report.wording import interval, percent, points, probability

RATE_NAMES = {
    ProcessRate.DISCOVERY: "a later attempt beat the first",
    ProcessRate.REGRESSION: "ended below the peak",
    ProcessRate.RECOVERY: "only got back to the peak",
    ProcessRate.PERSISTENCE: "went on after the peak",
    ProcessRate.NEVER_IMPROVED: "no later attempt beat the first",
}
"""A process rate for people."""

UNPAIRED = (
    "Only totals are published. The researchers met the same tasks, but which of them each solved is not known, so "
    "comparisons cannot be paired by task. They are exact tests for independent samples (Fisher), which is careful, "
    "and corrected within each profile (Holm)."
)
ONE_RUN = "One run a cell: nothing here says how much another run of the same researcher would differ."


def count_text(count: CountOf) -> str:
    """`14 of 24 (58.3 %)`."""
    return f"{count.events} of {count.of}" + ("" if count.rate is None else f" ({percent(count.rate)})")


def null_text(null: NullComparison) -> str:
    """One rate beside its null, in a sentence without a verdict on the researchers."""
    return (
        f"{RATE_NAMES[null.rate].capitalize()}: {count_text(null.observed)}; equally good attempts give "
        f"{percent(null.expected)} (95 % range {interval(*null.null_range)}), {probability(null.p_value)}."
    )


def outcome_text(view: PublishedView) -> str:
    """What the page found, first of all."""
    discovery = view.nulls[0].of(ProcessRate.DISCOVERY)
    regression = view.nulls[0].of(ProcessRate.REGRESSION)
    return (
        f"A later attempt beat the first in {count_text(discovery.observed)} settings, and of those that went on after "
        f"their peak {count_text(regression.observed)} ended below it. Attempts that are all equally good would give "
        f"about {percent(discovery.expected)} and {percent(regression.expected)}: "
        f"{_against_chance(discovery, regression)}"
    )


def _against_chance(*nulls: NullComparison) -> str:
    unusual = [null for null in nulls if null.p_value <= LEVEL]
    if unusual:
        names = " and ".join(RATE_NAMES[null.rate] for null in unusual)
        return f"chance alone, under the assumptions below, does not explain how often {names}."
    return "by themselves the two rates do not show that feedback was, or was not, turned into gains."


def sensitivity_text(view: PublishedView) -> str:
    """How far the nulls of the two headline rates move with their assumptions."""
    parts = []
    for rate in (ProcessRate.DISCOVERY, ProcessRate.REGRESSION):
        expected = [nulls.of(rate).expected for nulls in view.nulls]
        parts.append(f"“{RATE_NAMES[rate]}” from {percent(min(expected))} to {percent(max(expected))}")
    return f"Over all assumptions in the table the null goes for {parts[0]}, and for {parts[1]}."


def unusual_text(view: PublishedView) -> str:
    """The rates outside what chance gives under the quoted assumptions, and how that holds under the others."""
    parts = []
    for null in view.nulls[0].rates:
        if null.p_value <= LEVEL:
            values = [nulls.of(null.rate).p_value for nulls in view.nulls]
            parts.append(
                f"{RATE_NAMES[null.rate]} ({count_text(null.observed)}, {probability(null.p_value)}; between "
                f"{min(values):.3f} and {max(values):.3f} over all assumptions)"
            )
    if not parts:
        return "No rate is outside what chance gives at the 5 % level under the quoted assumptions."
    return f"Outside what chance gives at the 5 % level, under the quoted assumptions: {'; '.join(parts)}."


def separable_text(view: PublishedView, comparison: ProfileComparison) -> str:
    """Which pairs of researchers a profile tells apart; base is left to its own column."""
    base = view.published.researchers[0].researcher
    pairs = [pair for pair in comparison.ranking.separable if base not in (pair.better, pair.worse)]
    if not pairs:
        return "no two researchers"
    return "; ".join(f"{view.name(pair.better)} above {view.name(pair.worse)}" for pair in pairs)


def above_base_text(view: PublishedView, comparison: ProfileComparison) -> str:
    """Which researchers a profile shows to be above base, and below."""
    base = view.published.researchers[0].researcher
    above = [view.name(pair.better) for pair in comparison.ranking.separable if pair.worse == base]
    below = [view.name(pair.worse) for pair in comparison.ranking.separable if pair.better == base]
    texts = ["above base: " + "; ".join(above)] if above else []
    texts += ["below base: " + "; ".join(below)] if below else []
    return ". ".join(texts) or "none"


def rank_text(best: int, worst: int) -> str:
    """`3`, or `1 to 5`."""
    return str(best) if best == worst else f"{best} to {worst}"


def matrix_cell(entry: CellInterval) -> str:
    """`46 [36.6 to 55.7]`: the score as published with its interval."""
    return f"{plain(entry.cell.score_percent)} [{interval(entry.interval.low, entry.interval.high)}]"


def plain(value: Decimal | None) -> str:
    """A published figure as it was published, without trailing zeros; `unknown` where it was not."""
    return "unknown" if value is None else f"{value.normalize():f}"


def usd(value: Decimal | None) -> str:
    """Dollars and cents; `unknown` where they were not published."""
    return "unknown" if value is None else f"${value:,.2f}"


def short_cell(entry: CellInterval) -> str:
    """`46` over `37-56`: the same in whole percents on two lines, for a narrow screen."""
    return f"{float(entry.cell.score_percent):.0f}\n{entry.interval.low * 100:.0f}-{entry.interval.high * 100:.0f}"


def gain_text(gain: float, bounds: Interval) -> str:
    """`+34.0 [+21.6 to +44.9]`, in points."""
    return f"{points(gain)} [{points(bounds.low)} to {points(bounds.high)}]"


def below_base_text(view: PublishedView) -> str:
    """`4 of 24 cells are below base: …`."""
    cells = "; ".join(f"{view.name(name)} on {view.short(profile)}" for name, profile in view.facts.below_base)
    return f"{len(view.facts.below_base)} of {view.facts.settings} cells are below base: {cells}."


def leader_text(view: PublishedView) -> str:
    """Whether one researcher has the best score everywhere."""
    if view.facts.leads_everywhere:
        return f"{', '.join(map(view.name, view.facts.leads_everywhere))} has the best score on every profile."
    return (
        "No researcher has the best score on every profile; the three SWE-bench profiles have "
        f"{view.facts.different_swe_winners} different best researchers."
    )
