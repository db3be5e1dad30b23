"""Drawings as inline SVG: one look for every chart of every page, and one way to make one.

Colours are CSS variables of the page, so that one drawing serves light and dark. altair and vl-convert are imported
when the first chart is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt

type Row = dict[str, str | float]

INK, MUTED, GRID, PAGE = "var(--ink)", "var(--muted)", "var(--rule)", "var(--page)"
ACCENT, BASE, LOSS = "var(--accent)", "var(--base)", "var(--loss)"
FONT_PX = 12
_FONT = "Arial, Liberation Sans, Helvetica, sans-serif"  # of known widths, so that the drawing's edges fit its texts
_LABEL_PX = 150
_PADDING_PX = 10
_ROOT = re.compile(r'^<svg [^>]*?width="([\d.]+)" height="([\d.]+)"[^>]*>')


def chart_of(rows: Sequence[Row]) -> alt.Chart:
    """A chart over rows that are part of the drawing."""
    import altair as alt  # noqa: PLC0415 - heavy, and only a page needs it

    return alt.Chart(alt.InlineData(values=list(rows)))


def svg_of(layers: Sequence[alt.Chart], width: int, height: int, *, rules: bool = False) -> str:
    """The drawing as an SVG element that assistive technology skips: the table beside it is the text.

    `rules` draws a line across at every step of the vertical axis, also where it names things.
    """
    import altair as alt  # noqa: PLC0415 - as above
    import vl_convert  # noqa: PLC0415 - as above

    styled = (
        alt.layer(*layers)
        .properties(width=width, height=height)
        .configure(aria=False, background="transparent", font=_FONT, padding=_PADDING_PX)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=MUTED,
            titleColor=MUTED,
            domainColor=GRID,
            gridColor=GRID,
            tickColor=GRID,
            labelFontSize=FONT_PX,
            titleFontSize=FONT_PX,
            titleFontWeight="normal",
            labelLimit=_LABEL_PX,
        )
    )
    if rules:
        styled = styled.configure_axisY(grid=True)
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    svg = vl_convert.vegalite_to_svg(styled.to_dict(), vl_version=version)
    return _ROOT.sub(r'<svg width="\1" height="\2" viewBox="0 0 \1 \2" aria-hidden="true" focusable="false">', svg)
