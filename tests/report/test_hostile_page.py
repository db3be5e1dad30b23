"""Text that wants to be more than text: it must reach the page, be readable there, and do nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rsibench.report.page import run_page
from rsibench.run.record import RunRecord
from rsibench.testing.pages import ParsedPage, parse_page
from rsibench.testing.records import MadeUp, made_up_record

HOSTILE = (
    "</script><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">"
    "</pre></style><!--]]>\x1b[31m\x00\u202e\u2066{{7*7}}{% include 'x' %}<svg onload=alert(1)>\"'`&lt;&#0;"
)
MARK = "document.title='hit'"
HIDDEN = ("\x00", "\x1b", "\u202e", "\u2066", "\ud800")
FIELDS = (
    *("researcher", "label", "closed", "incident", "template", "prompt", "extracted", "output", "reason"),
    *("stage", "hypothesis", "row", "problem", "config", "event", "processor"),
)
FEW = MadeUp(families=("sums", "dates"), official_per_family=9, selection_per_family=6)
HUGE_CHARACTERS = 5_000_000


def parts(page: ParsedPage) -> tuple[int, int, int]:
    """How many elements of the kinds that hostile text would add."""
    return len(page.all("script")), len(page.all("style")), len(page.all("svg"))


def check_inert(record: RunRecord, reference: ParsedPage) -> str:
    text = run_page(record)
    text.encode("utf-8")
    page = parse_page(text)
    assert page.loading() == []
    assert parts(page) == parts(reference)
    assert not [hidden for hidden in HIDDEN if hidden in text]
    return text


@pytest.fixture(scope="module")
def harmless() -> ParsedPage:
    return parse_page(run_page(made_up_record(FEW)))


def test_everywhere_at_once(harmless: ParsedPage) -> None:
    record = made_up_record(replace(FEW, families=(HOSTILE, "dates"), texts=dict.fromkeys(FIELDS, HOSTILE)))
    text = check_inert(record, harmless)
    page = parse_page(text)
    shown = "".join(page.visible)
    assert shown.count(MARK) > len(FIELDS)
    assert "{{7*7}}" in shown
    scripts = [one for one in page.all("script") if "type" not in one.attributes]
    assert [one for one in scripts if MARK in one.own_text] == []


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_is_shown_and_does_nothing(field: str, harmless: ParsedPage) -> None:
    text = check_inert(made_up_record(replace(FEW, texts={field: HOSTILE})), harmless)
    assert MARK in parse_page(text).visible


def test_surrogates_in_submitted_files_do_not_break_the_page(harmless: ParsedPage) -> None:
    texts = dict.fromkeys(("row", "problem", "config", "event"), f"{HOSTILE}\ud800")
    record = made_up_record(replace(FEW, texts=texts))
    assert "⟨U+D800⟩" in check_inert(record, harmless)
    escaped = json.dumps({"messages": [{"role": "user", "content": "lone \ud800 surrogate"}]})
    assert "⟨U+D800⟩" in check_inert(made_up_record(replace(FEW, texts={"row": escaped})), harmless)


def test_the_embedded_trials_are_json_that_says_what_the_record_says() -> None:
    record = made_up_record(replace(FEW, texts={"output": HOSTILE}))
    (data,) = (one for one in parse_page(run_page(record)).all("script") if "type" in one.attributes)
    trials = json.loads(data.own_text)["trials"]
    assert [trial["item"] for trial in trials] == [item.item_id for item in record.official_items]
    before = [trial.verdict.outcome.value for trial in record.base_official_trials]
    assert [trial["answers"][0]["outcome"] for trial in trials] == before
    assert all(MARK in trial["answers"][1]["output"] for trial in trials)


@pytest.mark.parametrize("field", ["row", "hypothesis", "config", "problem", "event", "incident", "output", "reason"])
def test_endless_texts_are_cut_and_say_so(field: str, harmless: ParsedPage) -> None:
    text = check_inert(made_up_record(replace(FEW, texts={field: "<b>" * (HUGE_CHARACTERS // 3)})), harmless)
    assert "characters in all" in text
    assert len(text) < HUGE_CHARACTERS / 5


def test_endless_lists_are_cut_and_say_so() -> None:
    record = made_up_record(replace(FEW, refused=400))
    many = tuple(replace(record.events[0], seq=number) for number in range(20_000))
    text = run_page(replace(record, events=many))
    assert "20,000 events" in text
    assert text.count("in all) are left out here") == 2
    assert len(text) < 5_000_000
