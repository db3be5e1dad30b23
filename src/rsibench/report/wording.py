"""The words and number formats that the page and the commands share, so that a run is told the same way everywhere.

Invariant: numbers are formatted, never computed, except for a family's rate (passed over counted). Rates are shares
from 0 to 1 and are shown as percent; differences are shares too and are shown in percentage points.
"""

from __future__ import annotations

from rsibench.outcomes import TrialOutcome
from rsibench.run.result import Difference, RunResult
from rsibench.spec.score import FamilyScore, Score
from rsibench.units import MICRO_USD_PER_USD, MILLISECONDS_PER_SECOND, Account

WITHHELD = "withheld"
UNKNOWN = "unknown"
_MINUS = "\N{MINUS SIGN}"
_SECONDS_PER_MINUTE = 60
_MINUTES_PER_HOUR = 60

LABELS = {
    "unisolated": (
        "The researcher's process was not kept apart from the controller by a sandbox. It was only given its workspace "
        "and the lab, but nothing stopped it from reading other files of this user."
    ),
    "modified-student": "Another student took the place of the profile's own. Compare it with the same student only.",
    "base-kept": "No attempt was committed; the base student's own score is the result.",
    "near-no-op": "The committed adapter hardly moved the student's weights. It is base in all but name.",
    "quick": "A small variant for trying things out. Its scores are not comparable with those of the full profile.",
}
"""What a label of a result means."""

ACCOUNTS = {
    Account.WALL: "research time",
    Account.TRAINING: "training",
    Account.SAMPLING: "evaluation",
    Account.RESEARCHER: "researcher's model",
    Account.ROLLOUT: "rollouts",
    Account.ATTEMPTS: "attempts",
}
"""An account's name for people."""

_CLOSED = {
    "researcher": "the researcher committed it",
    "budget": "the budget was used up",
    "final-window": "the final window was reached",
    "researcher-ended": "the researcher ended",
    "operator": "the operator closed the run",
}


def percent(rate: float | None) -> str:
    """A share as percent with one decimal, `71.9 %`; a missing one is withheld."""
    return WITHHELD if rate is None else f"{_decimal(rate)} %"


def interval(low: float | None, high: float | None) -> str:
    """Two shares as `67.8 to 75.6`, in percent."""
    return UNKNOWN if low is None or high is None else f"{_decimal(low)} to {_decimal(high)}"


def score_text(score: Score) -> str:
    """A score in full: rate with interval, or why there is none and between which bounds it lies."""
    if score.rate is None:
        return f"{WITHHELD}, anywhere from {interval(score.bound_low, score.bound_high)} %"
    return f"{percent(score.rate)} (95 % interval {interval(score.interval_low, score.interval_high)})"


def score_cell(score: Score | None) -> str:
    """A score for a narrow column: `71.9 % [67.8 to 75.6]`."""
    if score is None:
        return "no score"
    if score.rate is None:
        return f"{WITHHELD} [{interval(score.bound_low, score.bound_high)}]"
    return f"{percent(score.rate)} [{interval(score.interval_low, score.interval_high)}]"


def points(difference: float) -> str:
    """A difference of shares in percentage points, always signed unless it is nothing: `+45.5`, `−0.3`, `0.0`."""
    value = difference * 100
    if value == 0:
        return "0.0"
    size = f"{abs(value):.1f}" if abs(value) >= 0.05 else f"{abs(value):.1g}"  # a sign without a size would mislead
    return f"{'+' if value > 0 else _MINUS}{size}"


def passed_of(score: FamilyScore | Score | None) -> str:
    """`46 / 64`: passed of counted."""
    return "not measured" if score is None else f"{score.passed:,} / {score.counted:,}"


def outcomes_text(score: Score) -> str:
    """How the trials ended, `pass 47, fail 97, no answer 48`, in the order of the table of outcomes."""
    order = [outcome.value for outcome in TrialOutcome]
    names = sorted(score.outcomes, key=lambda name: order.index(name) if name in order else len(order))
    return ", ".join(f"{name.replace('_', ' ')} {score.outcomes[name]:,}" for name in names)


def family_rate(score: FamilyScore | None) -> float | None:
    """Passed over counted; None where nothing counted."""
    return None if score is None or score.counted == 0 else score.passed / score.counted


def dollars(micro_usd: int | None) -> str:
    """Micro-dollars as dollars: cents from one dollar on, four decimals below, `unknown` for a missing amount."""
    if micro_usd is None:
        return UNKNOWN
    if micro_usd == 0:
        return "$0"
    whole = micro_usd / MICRO_USD_PER_USD
    if whole < 0.0001:
        return "under $0.0001"
    return f"${whole:,.2f}" if whole >= 1 else f"${whole:.4f}"


def duration(seconds: float) -> str:
    """Seconds as `48 s`, `3 min 20 s` or `2 h 5 min`."""
    whole = round(seconds)
    minutes, rest_seconds = divmod(whole, _SECONDS_PER_MINUTE)
    hours, rest_minutes = divmod(minutes, _MINUTES_PER_HOUR)
    if hours:
        return f"{hours} h {rest_minutes} min"
    return f"{minutes} min {rest_seconds} s" if minutes else f"{whole} s"


def amount(account: Account, units: int) -> str:
    """An account's smallest units for people: dollars, time or a count."""
    if account is Account.WALL:
        return duration(units / MILLISECONDS_PER_SECOND)
    return f"{units:,}" if account is Account.ATTEMPTS else dollars(units)


def probability(p_value: float) -> str:
    """A p-value: `p = 0.012`, or `p < 0.001`."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def difference_text(difference: Difference) -> str:
    """`+45.5 points, 95 % interval +41.0 to +50.2`."""
    low, high = points(difference.interval_low), points(difference.interval_high)
    return f"{points(difference.mean)} points, 95 % interval {low} to {high}"


def difference_remark(difference: Difference) -> str:
    """What must be said beside a difference whose interval reaches 0 or lies below it; empty otherwise."""
    if difference.interval_low <= 0 <= difference.interval_high:
        return "The interval includes 0: this run does not show that the selected attempt is better or worse than base."
    return "The selected attempt is worse than base." if difference.interval_high < 0 else ""


def outcome_text(result: RunResult) -> str:
    """What the run found, in plain words: one sentence, and a second where the first alone would mislead."""
    base, selected = result.base_official, result.selected_official
    if result.selected_attempt is None:
        return f"No attempt was selected: base is kept, with no improvement to report. {_side('Base', base)}."
    name = f"Selected attempt {result.selected_attempt}"
    difference = result.official_difference
    if base.rate is None or selected.rate is None:
        sides = f"{_side(name, selected)}; {_side('base', base)}"
        return f"No difference is claimed, because too few official trials count. {sides}."
    start = f"{name} scored {percent(selected.rate)} on {selected.total:,} official trials, base {percent(base.rate)}"
    if difference is None:
        return f"{start}. Too few trials count on both sides for a comparison, so no difference is claimed."
    if base.total == selected.total == difference.items:
        start = start.replace("official trials", "official items")
    remark = difference_remark(difference)
    return f"{start}: {difference_text(difference)}." + (f" {remark}" if remark else "")


def selection_text(result: RunResult) -> str:
    """How the committed choice came about."""
    because = _CLOSED.get(result.closed_because, result.closed_because)
    what = "keep base" if result.selected_attempt is None else f"attempt {result.selected_attempt}"
    if result.selection_rule == "explicit":
        how = "named by the researcher"
    elif result.selected_attempt is None:
        how = "as no attempt has a selection score to choose by"
    else:
        how = "by the rule declared before the run: best selection score, earliest first"
    return f"Committed: {what}, {how} (closed because {because})."


def label_text(label: str) -> str:
    """What a label means; an unknown one says that it has no explanation here."""
    return LABELS.get(label, "This version has no explanation for this label.")


def price_text(result: RunResult) -> str:
    """What the dollar amounts are."""
    table = f"price table {result.price_table} of {result.price_date}, model {result.price_model}"
    if result.shadow_prices:
        return (
            f"Shadow prices: nothing was paid for local compute. Its tokens are charged as if the work had been bought "
            f"({table}), so that the budget binds on any machine."
        )
    return f"Charged at {table}."


def _side(name: str, score: Score) -> str:
    told = f"{score_text(score)} on {score.total:,} official trials"
    return f"{name}: {told}" if score.rate is not None else f"{name}: {told}, of which {percent(score.coverage)} count"


def _decimal(share: float) -> str:
    return f"{share * 100:.1f}"
