"""Tables and sentences for a terminal. Untrusted text is inert and never read as markup or as control sequences."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from rsibench.report.families import family_changes
from rsibench.report.inert import one_line
from rsibench.report.wording import (
    ACCOUNTS,
    amount,
    dollars,
    family_rate,
    interval,
    outcome_text,
    passed_of,
    percent,
    points,
    selection_text,
)
from rsibench.run.result import AttemptSummary, RunResult
from rsibench.spec.score import Score
from rsibench.units import Account

__all__ = ["attempts_table", "outcome_text", "result_table", "selection_text", "spending_table"]

_NAME_CHARACTERS = 40


def attempts_table(
    attempts: Sequence[AttemptSummary], base_selection: Score | None = None, selected_attempt: int | None = None
) -> Table:
    """One row an attempt, base first; the committed one has a star. Without a score its stage stands in that column."""
    table = _table("Attempts (scores of the selection split)")
    table.add_column("attempt")
    for name in ("rows", "tokens", "lr", "epochs", "rank", "score", "95 % interval", "cost"):
        table.add_column(name, justify="right", no_wrap=True)
    if base_selection is not None:
        table.add_row("base", *[""] * 5, *_score_cells(base_selection), "")
    for attempt in attempts:
        committed = attempt.attempt == selected_attempt
        table.add_row(
            " ".join(
                [str(attempt.attempt), *(["*"] if committed else []), *(["near no-op"] if attempt.near_noop else [])]
            ),
            f"{attempt.rows:,}",
            f"{attempt.train_tokens:,}",
            f"{attempt.learning_rate:g}",
            str(attempt.epochs),
            str(attempt.lora_rank),
            *(_score_cells(attempt.score) if attempt.score else (one_line(attempt.stage, _NAME_CHARACTERS), "")),
            dollars(attempt.training_micro_usd + attempt.sampling_micro_usd),
            style="bold" if committed else None,
        )
    return table


def result_table(result: RunResult) -> Table:
    """Base against selected on the official split: a row a family, the largest gain first, then all of them."""
    table = _table("Official split")
    table.add_column("family")
    kept = result.selected_attempt is None
    sides = ("base",) if kept else ("base", f"attempt {result.selected_attempt}")
    for side in sides:
        table.add_column(f"{side}, passed", justify="right")
        table.add_column("rate", justify="right")
    if not kept:
        table.add_column("change", justify="right")
    for row in family_changes(result.base_official, result.selected_official):
        scores = (row.base,) if kept else (row.base, row.selected)
        cells = [cell for score in scores for cell in (passed_of(score), _rate(family_rate(score)))]
        change = [] if kept else ["" if row.change is None else points(row.change)]
        table.add_row(_text(row.family), *cells, *change)
    table.add_section()
    totals = (result.base_official,) if kept else (result.base_official, result.selected_official)
    cells = [cell for score in totals for cell in (passed_of(score), percent(score.rate))]
    difference = result.official_difference
    change = [] if kept else ["" if difference is None else points(difference.mean)]
    table.add_row("all", *cells, *change, style="bold")
    return table


def spending_table(result: RunResult) -> Table:
    """What each account was given and what was spent of it. Research time is left out, as it is in the result."""
    table = _table("Spent")
    table.add_column("account")
    table.add_column("spent", justify="right")
    table.add_column("limit", justify="right")
    for account in Account:
        if account is not Account.WALL and account in result.limits:
            limit = result.limits[account]
            spent = amount(account, result.spent.get(account, 0))
            table.add_row(ACCOUNTS[account], spent, amount(account, limit) if limit else "no budget")
    return table


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)


def _score_cells(score: Score) -> tuple[str, str]:
    """Rate and interval; of a withheld score, its bounds."""
    if score.rate is None:
        return percent(None), f"bounds {interval(score.bound_low, score.bound_high)}"
    return percent(score.rate), interval(score.interval_low, score.interval_high)


def _rate(rate: float | None) -> str:
    return "not counted" if rate is None else percent(rate)


def _text(text: str) -> Text:
    return Text(one_line(text, _NAME_CHARACTERS))
