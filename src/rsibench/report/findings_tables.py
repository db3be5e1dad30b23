"""What several runs show, for a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table

from rsibench.analysis.findings.records import ProtocolFindings
from rsibench.report import findings_wording as tell
from rsibench.report.inert import one_line
from rsibench.report.wording import percent, points

_NAME_CHARACTERS = 40


def researchers_table(protocol: ProtocolFindings) -> Table:
    """One line a researcher: score, gain, what it is told apart from, and what it cost."""
    quick = " (quick)" if protocol.variant == "quick" else ""
    base = percent(protocol.base_official)
    table = Table(
        title=f"{protocol.profile}{quick}, base {base}; gains in points with 95 % intervals",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE,
        pad_edge=False,
    )
    for heading in ("researcher", "runs", "official", "gain", "from base", "rank", "worst seed", "a run"):
        table.add_column(heading, overflow="fold")
    for one in protocol.researchers:
        table.add_row(
            one_line(one.researcher, _NAME_CHARACTERS),
            str(len(one.runs)),
            "none" if one.official is None else percent(one.official),
            tell.gain_cell(one.gain),
            tell.base_verdict(one),
            tell.rank_cell(protocol, one.researcher),
            "none" if one.reliability is None else points(one.reliability.worst),
            tell.usd(one.usd),
        )
    return table


def chance_lines(protocol: ProtocolFindings) -> list[str]:
    """For each researcher, what chance does not explain and from which controls it is told apart."""
    return [
        f"{one_line(one.researcher, _NAME_CHARACTERS)}: {tell.chance_verdict(one)}; "
        f"{tell.control_verdicts(protocol, one.researcher)}"
        for one in protocol.researchers
    ]
