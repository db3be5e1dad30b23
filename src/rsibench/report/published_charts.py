"""The charts of the published results' page as inline SVG, each beside a table with the same numbers.

A drawing is at most as wide as a small phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rsibench.analysis.published_comparisons import ProfileComparison
from rsibench.analysis.published_null import HeadlineNulls
from rsibench.report.published_view import PaperCell
from rsibench.report.published_wording import RATE_NAMES
from rsibench.report.svg import ACCENT, BASE, FONT_PX, INK, LOSS, PAGE, Row, chart_of, svg_of

if TYPE_CHECKING:
    pass

_ROW_PX, _PLOT_PX, _LABEL_PX = 24, 190, 140
_SHAPES = ("circle", "square", "triangle-up", "diamond")


def scores_svg(comparison: ProfileComparison, names: dict[str, str]) -> str:
    """One profile: a point with its 95 % interval a researcher, base as a dashed line with a band."""
    import altair as alt  # noqa: PLC0415 - heavy, and only a page needs it

    rows: list[Row] = [
        {"name": names[entry.cell.researcher], "rate": entry.cell.rate, **entry.interval._asdict()}
        for entry in comparison.cells
    ]
    y = (
        alt.Y("name:N", title=None)
        .scale(domain=[row["name"] for row in rows])
        .axis(ticks=False, labelLimit=_LABEL_PX, labelPadding=8)
    )
    x = alt.X(field="rate", type="quantitative", title="official score").axis(format=".0%", values=[0, 0.25, 0.5, 0.75])
    x = x.scale(domain=[0, 0.8])
    base, others = chart_of(rows[:1]), chart_of(rows[1:])
    low = x.copy().field("low")
    return svg_of(
        [
            base.mark_rect(color=BASE, opacity=0.2).encode(x=low, x2="high:Q"),
            base.mark_rule(color=BASE, strokeWidth=2, strokeDash=[6, 4]).encode(x=x),
            others.mark_rule(color=ACCENT, strokeWidth=2).encode(y=y, x=low, x2="high:Q"),
            others.mark_point(filled=True, size=70, color=ACCENT, opacity=1).encode(y=y, x=x),
            base.mark_point(size=70, color=BASE, fill=PAGE, opacity=1, strokeWidth=2).encode(y=y, x=x),
        ],
        _PLOT_PX,
        _ROW_PX * len(rows),
    )


def nulls_svg(nulls: HeadlineNulls) -> str:
    """The process rates as points beside the range that equally good attempts give."""
    import altair as alt  # noqa: PLC0415 - as above

    rows: list[Row] = [
        {
            "name": RATE_NAMES[null.rate],
            "observed": null.observed.rate or 0.0,
            "expected": null.expected,
            **null.null_range._asdict(),
        }
        for null in nulls.rates
    ]
    y = alt.Y("name:N", title=None).scale(domain=[row["name"] for row in rows])
    y = y.axis(ticks=False, labelLimit=_LABEL_PX + 30)
    x = alt.X(field="observed", type="quantitative", title="share of settings").scale(domain=[0, 1])
    x = x.axis(format=".0%", values=[0, 0.5, 1])
    chart = chart_of(rows)
    return svg_of(
        [
            chart.mark_bar(size=12, color=BASE, opacity=0.35).encode(y=y, x=x.copy().field("low"), x2="high:Q"),
            chart.mark_tick(color=INK, thickness=2, size=16).encode(y=y, x=x.copy().field("expected")),
            chart.mark_point(filled=True, shape="diamond", size=110, color=ACCENT, opacity=1).encode(y=y, x=x),
        ],
        _PLOT_PX,
        (_ROW_PX + 8) * len(rows),
    )


def costs_svg(cells: Sequence[PaperCell]) -> str:
    """Gain over base against Tinker dollars, one mark a cell, one shape a researcher."""
    import altair as alt  # noqa: PLC0415 - as above

    rows: list[Row] = [
        {"name": entry.researcher, "usd": float(entry.cell.tinker_usd), "gain": entry.gain * 100}
        for entry in cells
        if entry.cell.tinker_usd is not None
    ]
    names = list(dict.fromkeys(str(row["name"]) for row in rows))
    x = alt.X("usd:Q", title="Tinker dollars of the run (log scale)").scale(type="log", domain=[3, 500])
    y = alt.Y("gain:Q", title="official score less base, points")
    shape = alt.Shape("name:N", title=None, scale=alt.Scale(domain=names, range=list(_SHAPES)))
    colour = alt.Color("name:N", title=None, scale=alt.Scale(domain=names, range=[ACCENT, INK, LOSS, BASE]))
    legend = alt.Legend(orient="bottom", columns=1, labelColor=INK, labelFontSize=FONT_PX, labelLimit=260)
    return svg_of(
        [
            chart_of([{"zero": 0.0}]).mark_rule(color=BASE, strokeDash=[6, 4]).encode(y=alt.Y("zero:Q")),
            chart_of(rows)
            .mark_point(size=80, strokeWidth=2, opacity=1)
            .encode(
                x=x.axis(values=[5, 20, 100, 500], format="$d"),
                y=y,
                shape=shape.legend(legend),
                color=colour.legend(legend),
            ),
        ],
        270,
        230,
    )
