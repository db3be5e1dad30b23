"""The page's three charts as inline SVG. Each repeats what a table beside it says, for the eye only.

Nothing is loaded and no text is interpreted: names are data, made inert and shortened before they reach the drawing
library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rsibench.report.costs import AccountUse
from rsibench.report.families import FamilyChange
from rsibench.report.inert import one_line
from rsibench.report.svg import ACCENT, BASE, FONT_PX, GRID, INK, LOSS, MUTED, PAGE, Row, chart_of, svg_of
from rsibench.report.wording import family_rate, percent, points
from rsibench.run.result import AttemptSummary, RunResult
from rsibench.spec.score import Score

if TYPE_CHECKING:
    import altair as alt

_STEP_PX, _ROW_PX = 52, 28
_WIDE_PX, _NARROW_PX = 460, 150
_NAME_CHARACTERS = 120


def trajectory_svg(result: RunResult) -> str:
    """Selection score with its interval by attempt; base as a line across. Empty when there was no attempt."""
    import altair as alt  # noqa: PLC0415 - heavy, and only a page needs it

    if not result.attempts:
        return ""
    names = [attempt.attempt for attempt in result.attempts]
    x = alt.X("attempt:O", title="attempt").scale(domain=names).axis(labelAngle=0, ticks=False)
    y = (
        alt.Y(field="rate", type="quantitative", title="selection score")
        .axis(format=".0%", tickCount=6)
        .scale(domain=[0, _top(result)])
    )
    width = max(4, len(names)) * _STEP_PX
    layers = _base_layers(result.base_selection, y, width)
    for attempt in result.attempts:
        layers += _attempt_layers(attempt, x, y, committed=attempt.attempt == result.selected_attempt)
    return svg_of(layers, width, 250, rules=True)


def families_svg(changes: Sequence[FamilyChange], *, narrow: bool) -> str:
    """A line a family from base to selected, in the order given, with the change at its end. Empty without families."""
    import altair as alt  # noqa: PLC0415 - as above

    rows = [_family_row(change) for change in changes]
    if not rows:
        return ""
    y = alt.Y("family:N", title=None).scale(domain=[row["family"] for row in rows]).axis(ticks=False)
    axis = alt.Axis(format=".0%", values=[0, 0.5, 1] if narrow else [0, 0.25, 0.5, 0.75, 1])
    x = alt.X(field="base", type="quantitative", title="passed of counted").axis(axis).scale(domain=[0, 1])
    width = _NARROW_PX if narrow else _WIDE_PX
    both = [row for row in rows if "base" in row]
    lost = {row["family"] for row, change in zip(rows, changes, strict=True) if (change.change or 0) < 0}
    gains = [row for row in both if row["family"] not in lost]
    losses = [row for row in both if row["family"] in lost]
    base = chart_of(both).mark_point(size=80, color=BASE, fill=PAGE, opacity=1, strokeWidth=2)
    lines, ends = [], []
    for part, colour in ((gains, ACCENT), (losses, LOSS)):
        end = chart_of(part).mark_point(filled=True, size=80, color=colour, opacity=1)
        lines.append(
            chart_of(part).mark_rule(strokeWidth=3, color=colour, opacity=0.55).encode(y=y, x=x, x2="selected:Q")
        )
        ends.append(end.encode(y=y, x=x.copy().field("selected")))
    layers = [*lines, base.encode(y=y, x=x), *ends]
    label = chart_of(rows).mark_text(align="left", color=INK, fontSize=FONT_PX)
    layers.append(label.encode(y=y, x=alt.value(width + 8), text="label:N"))
    return svg_of(layers, width, _ROW_PX * len(rows), rules=True)


def budget_svg(uses: Sequence[AccountUse], *, narrow: bool) -> str:
    """A bar an account, spent as a share of its limit. Accounts without a budget are left to the table."""
    import altair as alt  # noqa: PLC0415 - as above

    rows: list[Row] = [
        {"account": use.name, "share": min(1.0, use.share), "whole": 1.0, "label": f"{use.spent} of {use.limit}"}
        for use in uses
        if use.share is not None
    ]
    if not rows:
        return ""
    y = alt.Y("account:N", title=None).scale(domain=[row["account"] for row in rows]).axis(ticks=False)
    x = (
        alt.X(field="whole", type="quantitative", title="spent of limit")
        .axis(format=".0%", values=[0, 0.5, 1])
        .scale(domain=[0, 1])
    )
    width = _NARROW_PX // 2 if narrow else _WIDE_PX // 2
    layers = [
        chart_of(rows).mark_bar(size=12, color=GRID).encode(y=y, x=x),
        chart_of(rows).mark_bar(size=12, color=ACCENT).encode(y=y, x=x.copy().field("share")),
        chart_of(rows)
        .mark_text(align="left", color=INK, fontSize=FONT_PX)
        .encode(y=y, x=alt.value(width + 8), text="label:N"),
    ]
    return svg_of(layers, width, _ROW_PX * len(rows), rules=True)


def _base_layers(score: Score, y: alt.Y, width: int) -> list[alt.Chart]:
    import altair as alt  # noqa: PLC0415 - as above

    low, high = _ends(score)
    row: Row = {"low": low, "high": high, "label": "base"}
    if score.rate is not None:
        row |= {"rate": score.rate, "label": f"base {percent(score.rate)}"}
    chart = chart_of([row])
    band = chart.mark_rect(color=BASE, opacity=0.2).encode(y=y.copy().field("low"), y2="high:Q")
    label = chart.mark_text(align="left", color=MUTED, fontSize=FONT_PX).encode(
        y=y.copy().field("rate" if score.rate is not None else "high"), x=alt.value(width + 6), text="label:N"
    )
    line = [chart.mark_rule(color=BASE, strokeWidth=2, strokeDash=[6, 4]).encode(y=y)] if score.rate is not None else []
    return [band, *line, label]


def _attempt_layers(attempt: AttemptSummary, x: alt.X, y: alt.Y, *, committed: bool) -> list[alt.Chart]:
    """The marks of one attempt: interval, point, score above it, and a word where it is more than an attempt."""
    score = attempt.score
    colour = ACCENT if committed else INK
    row: Row = {"attempt": attempt.attempt, "low": 0.0, "high": 0.0, "label": "no score", "note": ""}
    if score is not None:
        low, high = _ends(score)
        row |= {"low": low, "high": high, "label": percent(score.rate)}
        notes = [word for word, said in (("committed", committed), ("near no-op", attempt.near_noop)) if said]
        row["note"] = ", ".join(notes)
    text = chart_of([row]).encode(x=x, y=y.copy().field("high"))
    layers = [text.mark_text(dy=-9, color=colour if score else MUTED, fontSize=FONT_PX).encode(text="label:N")]
    if row["note"]:
        layers.append(text.mark_text(dy=-23, color=colour, fontSize=FONT_PX - 1).encode(text="note:N"))
    if score is None:
        return layers
    dash = [1, 0] if score.rate is not None else [2, 4]
    line = chart_of([row]).mark_rule(color=colour, strokeWidth=2, strokeDash=dash)
    layers.append(line.encode(x=x, y=y.copy().field("low"), y2="high:Q"))
    if score.rate is not None:
        shape, size = ("diamond", 150) if committed else ("circle", 80)
        fill = PAGE if attempt.near_noop else colour
        point = chart_of([row | {"rate": score.rate}])
        mark = point.mark_point(shape=shape, size=size, color=colour, fill=fill, opacity=1, strokeWidth=2)
        layers.append(mark.encode(x=x, y=y))
    return layers


def _family_row(change: FamilyChange) -> Row:
    row: Row = {
        "family": one_line(change.family, _NAME_CHARACTERS),
        "label": "not counted" if change.change is None else points(change.change),
    }
    before, after = family_rate(change.base), family_rate(change.selected)
    if before is not None and after is not None:
        row |= {"base": before, "selected": after}
    return row


def _ends(score: Score) -> tuple[float, float]:
    """The interval of a score, or its bounds where it is withheld."""
    if score.rate is None or score.interval_low is None or score.interval_high is None:
        return score.bound_low, score.bound_high
    return score.interval_low, score.interval_high


def _top(result: RunResult) -> float:
    """The end of the score axis: a tenth above the highest interval, at most 1, with room for two lines of text."""
    scores = [result.base_selection, *(attempt.score for attempt in result.attempts if attempt.score is not None)]
    highest = max(_ends(score)[1] for score in scores)
    return max(0.2, int(highest * 10 + 2) / 10)
