"""The page of the published results: one HTML file that needs nothing else, with every chart's numbers in a table.

Invariant: no request leaves it; a content policy names its style by hash and forbids everything else, scripts included.
Figures that cannot be recomputed from the shipped facts are marked as published.
"""

from __future__ import annotations

import csv
import io

from rsibench.analysis.published_comparisons import ASSUMED_ICC
from rsibench.analysis.published_null import DRAWS, LOG_SPREAD
from rsibench.report import published_charts, published_wording
from rsibench.report.published_view import BEST_OF, PublishedView
from rsibench.report.templating import asset, environment, policy, trusted

_COLUMNS = (
    *("researcher", "profile", "score_percent", "passed", "trials", "interval_low", "interval_high"),
    *("gain", "gain_low", "gain_high", "hours", "tinker_usd"),
)


def published_page(view: PublishedView) -> str:
    """The whole page. Imports the drawing libraries; takes a second or two."""
    style = asset("style.css", "published.css")
    names = {row.researcher: row.short for row in view.published.researchers}
    return (
        environment()
        .get_template("published.html")
        .render(
            view=view,
            tell=published_wording,
            style=style,
            policy=policy(style),
            best_of=BEST_OF,
            draws=DRAWS,
            log_spread=LOG_SPREAD,
            assumed_icc=ASSUMED_ICC,
            score_charts=[
                (comparison.profile.title, trusted(published_charts.scores_svg(comparison, names)))
                for comparison in view.comparisons
            ],
            null_chart=trusted(published_charts.nulls_svg(view.nulls[0])),
            cost_chart=trusted(published_charts.costs_svg(view.paper_cells)),
        )
    )


def published_csv(view: PublishedView) -> str:
    """The matrix as CSV, one line a cell. Unknown figures are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in view.rows:
        for entry in row.cells:
            cell = entry.cell
            known = [cell.researcher, cell.profile, cell.score_percent, cell.successes_inferred, cell.trials]
            shares = [*entry.interval, entry.gain, *entry.gain_interval]
            writer.writerow([*known, *(f"{share:.6f}" for share in shares), cell.hours, cell.tinker_usd])
    return text.getvalue()
