"""The sentences and cells of a report over several runs. Numbers are formatted here, never computed."""

from __future__ import annotations

from collections.abc import Sequence

from rsibench.analysis.findings.records import (
    Estimate,
    Findings,
    NullFinding,
    PairFinding,
    ProcessFinding,
    ProtocolFindings,
    ResearcherFindings,
)
from rsibench.report.published_wording import RATE_NAMES
from rsibench.report.wording import UNKNOWN, percent, points, probability

LEVEL = 0.05
CONTROLS = ("best-of-n", "no-op", "overreach", "one-shot")
"""Shipped researchers without feedback or without skill: what an agent must be told apart from."""

PROCESS_NAMES = {rate.value: name for rate, name in RATE_NAMES.items()}


def outcome_text(findings: Findings) -> str:
    """What the runs show, first of all: who is told apart from base, under each protocol."""
    return " ".join(_protocol_text(one) for one in findings.protocols)


def gain_cell(estimate: Estimate | None) -> str:
    """`+34.4 [+25.8 to +43.0]`, in points."""
    if estimate is None:
        return "not measured"
    if estimate.low is None or estimate.high is None:
        return points(estimate.value)
    return f"{points(estimate.value)} [{points(estimate.low)} to {points(estimate.high)}]"


def base_verdict(one: ResearcherFindings) -> str:
    """Whether the researcher's gain is told apart from nothing."""
    gain = one.gain
    if gain is None or gain.p_value is None:
        return "not measured"
    if gain.p_value > LEVEL:
        return "not told apart from base"
    return "above base" if gain.value > 0 else "below base"


def chance_verdict(one: ResearcherFindings) -> str:
    """Which of its process rates chance does not explain, under either null."""
    unusual = [rate for rate in one.process if rate.nulls and all(null.p_value <= LEVEL for null in rate.nulls)]
    if not one.process:
        return "no attempt to judge"
    if not unusual:
        return "nothing that chance does not explain"
    return "; ".join(f"{PROCESS_NAMES[rate.rate]} {count_cell(rate)}" for rate in unusual)


def control_verdicts(protocol: ProtocolFindings, name: str) -> str:
    """From which controls a researcher's official score is told apart."""
    others = {pair.second if pair.first == name else pair.first: pair for pair in _pairs_of(protocol, name)}
    known = [control for control in CONTROLS if control in others and control != name]
    if not known:
        return "no control was run"
    above = [control for control in known if others[control].separable and _ahead(others[control], name)]
    below = [control for control in known if others[control].separable and not _ahead(others[control], name)]
    parts = [f"above {_listed(above)}"] if above else []
    parts += [f"below {_listed(below)}"] if below else []
    return "; ".join(parts) or f"not told apart from {_listed(known)}"


def count_cell(rate: ProcessFinding) -> str:
    """`2 of 3 (66.7 %)`."""
    return f"{rate.events} of {rate.of}" + (f" ({percent(rate.events / rate.of)})" if rate.of else "")


def null_cell(null: NullFinding) -> str:
    """`72.0 % [33.3 to 100.0], p = 0.412`."""
    return f"{percent(null.expected)} [{null.low * 100:.1f} to {null.high * 100:.1f}], {probability(null.p_value)}"


def rate_name(rate: str) -> str:
    """A process rate for people."""
    return PROCESS_NAMES[rate]


def usd(value: float | None) -> str:
    """Dollars: cents from one dollar on, four decimals below."""
    if value is None:
        return UNKNOWN
    return f"${value:,.2f}" if value >= 1 else f"${value:.4f}"


def hours(value: float) -> str:
    """Hours, or minutes below one."""
    return f"{value:,.1f} h" if value >= 1 else f"{value * 60:.1f} min"


def share(value: float | None) -> str:
    """A share as percent; a missing one has none."""
    return "none" if value is None else percent(value)


def per_dollar_cell(estimate: Estimate | None) -> str:
    """Points a dollar with interval."""
    if estimate is None:
        return "nothing was spent"
    bounds = (
        ""
        if estimate.low is None or estimate.high is None
        else f" [{estimate.low * 100:,.0f} to {estimate.high * 100:,.0f}]"
    )
    return f"{estimate.value * 100:,.0f}{bounds}"


def rank_cell(protocol: ProtocolFindings, name: str) -> str:
    """`1 to 3`, the ranks that the data allow."""
    found = next((one for one in protocol.ranks if one.researcher == name), None)
    if found is None:
        return "not ranked"
    return str(found.best) if found.best == found.worst else f"{found.best} to {found.worst}"


def reliability_cell(one: ResearcherFindings) -> str:
    """`3 of 3 gained, 0 did harm`."""
    found = one.reliability
    if found is None:
        return "not measured"
    return f"{round(found.gain * found.runs)} of {found.runs} gained, {round(found.harm * found.runs)} did harm"


def incidents_cell(one: ResearcherFindings) -> str:
    """`verbatim 2, canary 1`."""
    return ", ".join(f"{name} {number}" for name, number in one.incidents.items()) or "none"


def detectable_text(protocol: ProtocolFindings) -> str:
    """What the runs could have found at all."""
    if protocol.detectable is None:
        return (
            "With one run a researcher, how much another run would differ is unknown; differences are over tasks alone."
        )
    return (
        f"Two researchers would have to differ by {points(protocol.detectable)} points for these runs to tell them "
        "apart with 80 % power, before correction."
    )


def _ahead(pair: PairFinding, name: str) -> bool:
    """Whether `name` has the higher score of a pair."""
    return (pair.difference.value > 0) == (pair.first == name)


def _protocol_text(protocol: ProtocolFindings) -> str:
    measured = [one for one in protocol.researchers if one.gain is not None]
    if not measured:
        return f"On {protocol.profile} no run has an official score yet."
    above = [one for one in measured if base_verdict(one) == "above base"]
    below = [one for one in measured if base_verdict(one) == "below base"]
    parts = [f"{one.researcher} ({gain_cell(one.gain)} points)" for one in above]
    text = (
        f"On {protocol.profile}, above base: {_listed(parts)}"
        if parts
        else f"On {protocol.profile} nobody is shown to be above base"
    )
    if below:
        text += f"; below base: {_listed([f'{one.researcher} ({gain_cell(one.gain)} points)' for one in below])}"
    rest = [one.researcher for one in measured if one not in above and one not in below]
    if rest:
        text += f"; not told apart from it: {_listed(rest)}"
    return f"{text}."


def _pairs_of(protocol: ProtocolFindings, name: str) -> Sequence[PairFinding]:
    return [pair for pair in protocol.pairs if name in (pair.first, pair.second)]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
