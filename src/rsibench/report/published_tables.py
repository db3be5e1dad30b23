"""The published results for a terminal: the matrix, what it tells apart, and the headline rates beside chance."""

from __future__ import annotations

from rich import box
from rich.table import Table

from rsibench.report.published_view import PublishedView
from rsibench.report.published_wording import RATE_NAMES, count_text, separable_text, short_cell, usd
from rsibench.report.wording import interval, percent, probability


def matrix_table(view: PublishedView) -> Table:
    """Scores with intervals, one row a researcher."""
    table = _table("Official scores in whole percents with 95 % intervals")
    table.add_column("researcher", no_wrap=True)
    for profile in view.published.profiles:
        table.add_column(profile.short, justify="right", no_wrap=True)
    for row in view.rows:
        table.add_row(row.researcher.short, *(short_cell(entry) for entry in row.cells))
    return table


def separation_table(view: PublishedView) -> Table:
    """What each profile tells apart."""
    table = _table("What can be told apart (unpaired exact tests, Holm-corrected within a profile)")
    table.add_column("profile", no_wrap=True)
    table.add_column("best of the paper's four")
    table.add_column("spread", justify="right")
    table.add_column("detectable", justify="right")
    table.add_column("told apart")
    for comparison, facts in zip(view.comparisons, view.facts.profiles, strict=True):
        table.add_row(
            comparison.profile.short,
            ", ".join(map(view.name, facts.winners)),
            f"{facts.spread_points:.2f}",
            f"{comparison.detectable_difference * 100:.1f}",
            separable_text(view, comparison),
        )
    return table


def chance_table(view: PublishedView) -> Table:
    """The published process rates beside what equally good attempts give."""
    table = _table("Process rates (counts as published) and what equally good attempts give")
    table.add_column("what")
    for name in ("published", "chance", "95 % range", "two-sided", "chance over all assumptions"):
        table.add_column(name, justify="right")
    for null in view.nulls[0].rates:
        expected = [nulls.of(null.rate).expected for nulls in view.nulls]
        table.add_row(
            RATE_NAMES[null.rate],
            count_text(null.observed),
            percent(null.expected),
            interval(*null.null_range),
            probability(null.p_value),
            interval(min(expected), max(expected)),
        )
    return table


def cost_text(view: PublishedView) -> str:
    """Medians and ranges of hours and dollars."""
    hours, dollars = view.facts.hours, view.facts.tinker_usd
    return (
        f"Over {view.facts.settings} settings: median {hours.median} h ({hours.least} to {hours.most}), "
        f"{usd(dollars.median)} ({usd(dollars.least)} to {usd(dollars.most)}) of training and sampling."
    )


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE, pad_edge=False)
