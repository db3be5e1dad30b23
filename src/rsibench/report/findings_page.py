"""The page over several runs: one HTML file that needs nothing else, with links to the pages of the runs beside it.

Invariant: no request leaves it; a content policy names its style by hash and forbids everything else, scripts included.
Every text of a run, trusted or not, is made inert before it is escaped.
"""

from __future__ import annotations

from collections.abc import Container

from rsibench.analysis.findings.findings import ASSUMED_ICC, ASSUMED_SHARED
from rsibench.analysis.findings.records import Findings, ProtocolFindings
from rsibench.report import findings_charts, findings_wording
from rsibench.report.templating import asset, environment, policy, trusted


def findings_page(findings: Findings, pages: Container[str] = ()) -> str:
    """The whole page; runs named in `pages` are linked as `runs/<name>.html`. Imports the drawing libraries."""
    style = asset("style.css", "published.css")
    return (
        environment()
        .get_template("findings.html")
        .render(
            findings=findings,
            pages=pages,
            drawings=[_drawings(one) for one in findings.protocols],
            tell=findings_wording,
            style=style,
            policy=policy(style),
            assumed_icc=ASSUMED_ICC,
            assumed_shared=ASSUMED_SHARED,
        )
    )


def _drawings(protocol: ProtocolFindings) -> dict[str, object]:
    top = findings_charts.top_of(protocol.researchers)
    return {
        "gains": trusted(findings_charts.gains_svg(protocol)),
        "frontier": trusted(findings_charts.frontier_svg(protocol)),
        "process": [trusted(findings_charts.process_svg(one)) for one in protocol.researchers],
        "curves": [
            trusted(findings_charts.curve_svg(one, protocol.base_selection, top)) for one in protocol.researchers
        ],
    }
