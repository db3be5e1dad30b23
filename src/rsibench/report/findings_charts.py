"""Charts of a report over several runs as inline SVG; each has its numbers in a table beside it.

A drawing is at most as wide as a small phone, and names reach it shortened and inert.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rsibench.analysis.findings.records import ProtocolFindings, ResearcherFindings
from rsibench.analysis.process_rates import ProcessRate
from rsibench.report.inert import one_line
from rsibench.report.svg import ACCENT, BASE, FONT_PX, INK, LOSS, MUTED, PAGE, Row, chart_of, svg_of

if TYPE_CHECKING:
    import altair as alt

_ROW_PX, _PLOT_PX, _LABEL_PX, _SMALL_PX = 26, 190, 150, 150
_NAME_CHARACTERS = 60
_SHORT = {ProcessRate.DISCOVERY.value: "later beat first", ProcessRate.REGRESSION.value: "ended below peak"}


def gains_svg(protocol: ProtocolFindings) -> str:
    """Gain over base with its interval a researcher, a small mark a run. Empty when nothing is measured."""
    import altair as alt  # noqa: PLC0415 - heavy, and only a page needs it

    rows: list[Row] = []
    runs: list[Row] = []
    for one in protocol.researchers:
        if one.gain is None or one.gain.low is None or one.gain.high is None:
            continue
        name = _name(one.researcher)
        row: Row = {"name": name, "gain": one.gain.value * 100, "low": one.gain.low * 100, "high": one.gain.high * 100}
        rows.append(row)
        runs += [{"name": name, "gain": run.difference * 100} for run in one.runs if run.difference is not None]
    if not rows:
        return ""
    y = _names(rows)
    x = alt.X(field="gain", type="quantitative", title="official score less base, points")
    x = x.axis(tickCount=5)
    lost = [row for row in rows if float(row["high"]) < 0]
    kept = [row for row in rows if row not in lost]
    layers = [chart_of([{"zero": 0.0}]).mark_rule(color=BASE, strokeDash=[6, 4]).encode(x=alt.X("zero:Q"))]
    for part, colour in ((kept, ACCENT), (lost, LOSS)):
        low = x.copy().field("low")
        layers.append(
            chart_of(part).mark_rule(color=colour, strokeWidth=3, opacity=0.5).encode(y=y, x=low, x2="high:Q")
        )
        layers.append(chart_of(part).mark_point(filled=True, size=90, color=colour, opacity=1).encode(y=y, x=x))
    layers.append(chart_of(runs).mark_tick(color=INK, thickness=2, size=10).encode(y=y, x=x))
    return svg_of(layers, _PLOT_PX, _ROW_PX * len(rows))


def process_svg(one: ResearcherFindings) -> str:
    """A researcher's process rates as diamonds beside what random order of its attempts gives. Empty without any."""
    import altair as alt  # noqa: PLC0415 - as above

    rows: list[Row] = [
        {
            "name": _SHORT[rate.rate],
            "observed": rate.events / rate.of,
            "expected": rate.nulls[0].expected,
            "low": rate.nulls[0].low,
            "high": rate.nulls[0].high,
        }
        for rate in one.process
        if rate.of and rate.nulls and rate.rate in _SHORT
    ]
    if not rows:
        return ""
    y = _names(rows)
    x = alt.X(field="observed", type="quantitative", title="share of runs").scale(domain=[0, 1])
    x = x.axis(format=".0%", values=[0, 0.5, 1])
    chart = chart_of(rows)
    return svg_of(
        [
            chart.mark_bar(size=12, color=BASE, opacity=0.35).encode(y=y, x=x.copy().field("low"), x2="high:Q"),
            chart.mark_tick(color=INK, thickness=2, size=16).encode(y=y, x=x.copy().field("expected")),
            chart.mark_point(filled=True, shape="diamond", size=110, color=ACCENT, opacity=1).encode(y=y, x=x),
        ],
        _PLOT_PX,
        (_ROW_PX + 6) * len(rows),
    )


def curve_svg(one: ResearcherFindings, base: float | None, top: float) -> str:
    """One researcher's best selection score so far by dollars, with its band over runs. Empty without a curve."""
    import altair as alt  # noqa: PLC0415 - as above

    if not one.curve:
        return ""
    rows: list[Row] = [
        {"usd": point.usd, "mean": point.mean, "low": point.low, "high": point.high} for point in one.curve
    ]
    x = alt.X("usd:Q", title="dollars").axis(tickCount=3)
    y = alt.Y(field="mean", type="quantitative", title="best selection score").scale(domain=[0, top])
    y = y.axis(format=".0%", tickCount=4)
    layers = [
        chart_of(rows)
        .mark_area(interpolate="step-after", color=ACCENT, opacity=0.2)
        .encode(x=x, y=y.copy().field("low"), y2="high:Q"),
        chart_of(rows).mark_line(interpolate="step-after", color=ACCENT, strokeWidth=2).encode(x=x, y=y),
    ]
    if base is not None:
        rule = chart_of([{"base": base}]).mark_rule(color=BASE, strokeDash=[6, 4])
        layers.append(rule.encode(y=alt.Y("base:Q")))
    return svg_of(layers, _PLOT_PX, _SMALL_PX)


def frontier_svg(protocol: ProtocolFindings) -> str:
    """Official score against dollars a run; who is not beaten on both is filled. Empty without scores."""
    import altair as alt  # noqa: PLC0415 - as above

    rows: list[Row] = [
        {"name": _name(one.researcher), "usd": one.usd, "score": one.score, "front": float(one.on_front)}
        for one in protocol.frontier
    ]
    if not rows:
        return ""
    x = alt.X("usd:Q", title="dollars a run").axis(tickCount=4)
    y = alt.Y("score:Q", title="official score").scale(domain=[0, 1]).axis(format=".0%", tickCount=4)
    layers = []
    for part, fill in (
        ([row for row in rows if row["front"]], ACCENT),
        ([row for row in rows if not row["front"]], PAGE),
    ):
        mark = chart_of(part).mark_point(size=90, color=ACCENT, fill=fill, opacity=1, strokeWidth=2)
        layers.append(mark.encode(x=x, y=y))
    label = chart_of(rows).mark_text(align="left", dx=8, color=INK, fontSize=FONT_PX - 1)
    layers.append(label.encode(x=x, y=y, text="name:N"))
    if protocol.base_official is not None:
        rule = chart_of([{"base": protocol.base_official}]).mark_rule(color=MUTED, strokeDash=[6, 4])
        layers.append(rule.encode(y=alt.Y("base:Q")))
    return svg_of(layers, _PLOT_PX, 170)


def top_of(researchers: Sequence[ResearcherFindings]) -> float:
    """A common end for the score axes of several curves."""
    highest = max((point.high for one in researchers for point in one.curve), default=0.0)
    return min(1.0, max(0.2, int(highest * 10 + 1.5) / 10))


def _names(rows: Sequence[Row]) -> alt.Y:
    import altair as alt  # noqa: PLC0415 - as above

    y = alt.Y("name:N", title=None).scale(domain=[row["name"] for row in rows])
    return y.axis(ticks=False, labelLimit=_LABEL_PX, labelPadding=8)


def _name(researcher: str) -> str:
    return one_line(researcher, _NAME_CHARACTERS)
