"""Tables for a terminal."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console, RenderableType

from rsibench.report.tables import attempts_table, result_table, spending_table
from rsibench.testing.records import MadeUp, made_up_record


def printed(table: RenderableType, width: int = 200) -> str:
    console = Console(width=width, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_every_attempt_has_its_numbers() -> None:
    result = made_up_record(MadeUp(attempts=6)).result
    lines = printed(attempts_table(result.attempts, result.base_selection, result.selected_attempt)).splitlines()
    for attempt in result.attempts:
        line = next(line for line in lines if line.split()[:1] == [str(attempt.attempt)])
        assert f"{attempt.rows:,}" in line
        assert f"{attempt.train_tokens:,}" in line
        assert ("*" in line) == (attempt.attempt == result.selected_attempt)
        assert ("near no-op" in line) == bool(attempt.near_noop)
        if attempt.score is None or attempt.score.rate is None:
            assert attempt.stage in line
        else:
            assert f"{100 * attempt.score.rate:.1f} %" in line


def test_tables_fit_eighty_columns_without_losing_a_number() -> None:
    result = made_up_record().result
    text = printed(attempts_table(result.attempts, result.base_selection, result.selected_attempt), width=80)
    assert "…" not in text
    assert "…" not in printed(result_table(result), width=80)


def test_result_table_ends_with_the_totals_of_the_result() -> None:
    result = made_up_record().result
    text = printed(result_table(result))
    last = [line for line in text.splitlines() if line.strip()][-1]
    base, selected = result.base_official, result.selected_official
    for piece in (f"{base.passed} / {base.counted}", f"{selected.passed} / {selected.counted}"):
        assert piece in last
    for family in selected.families:
        assert f"{family.passed} / {family.counted}" in text


def test_a_kept_base_has_no_change_column() -> None:
    assert "change" not in printed(result_table(made_up_record(MadeUp(selected=None)).result))


def test_accounts_without_a_budget_say_so() -> None:
    assert "no budget" in printed(spending_table(made_up_record().result))


def test_hostile_names_reach_the_terminal_inert() -> None:
    name = "\x1b[31mred\x07 [bold]x[/bold] [link=file:///]y[/link] \u202egnp"
    wish = replace(MadeUp(), families=(name, "dates"), texts={"stage": f"[red]{name}"}, attempts=5)
    result = made_up_record(wish).result
    text = printed(result_table(result)) + printed(attempts_table(result.attempts))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "[bold]x[/bold]" in text
