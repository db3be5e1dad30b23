"""The page of a run: what it says, how it is built, and what it must never do."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from rsibench.outcomes import TRIAL_RULES, TrialOutcome
from rsibench.report.page import run_page
from rsibench.report.wording import outcome_text
from rsibench.run.result import RunResult
from rsibench.spec.score import Score
from rsibench.testing.pages import ParsedPage, parse_page
from rsibench.testing.records import MadeUp, made_up_record

WISHES = {
    "gain": MadeUp(),
    "base kept": MadeUp(selected=None, seed=2),
    "withheld": MadeUp(broken_share=0.1, seed=3),
    "many attempts": MadeUp(attempts=14, selected=6, seed=4),
    "no change": MadeUp(gain=0.02, seed=5),
    "worse": MadeUp(gain=-0.4, seed=6),
    "nothing tried": MadeUp(attempts=0, selected=None, refused=0, seed=7),
    "same templates": MadeUp(hidden_templates=False, seed=8),
}


class Drawn:
    """A record with its page, as text and parsed."""

    def __init__(self, wish: MadeUp) -> None:
        self.record = made_up_record(wish)
        self.text = run_page(self.record)
        self.page = parse_page(self.text)


@cache
def drawn_once(name: str) -> Drawn:
    return Drawn(WISHES[name])


@pytest.fixture(params=list(WISHES))
def drawn(request: pytest.FixtureRequest) -> Drawn:
    return drawn_once(request.param)


def squeezed(text: str) -> str:
    return " ".join(text.split())


def score_numbers(score: Score) -> Iterator[str]:
    yield f"{score.passed:,} / {score.counted:,}"
    yield f"{100 * score.bound_low:.1f} to {100 * score.bound_high:.1f}"
    yield f"{100 * score.coverage:.1f} %"
    yield f"{score.prompt_tokens:,} / {score.output_tokens:,}"
    if score.rate is not None:
        assert score.interval_low is not None
        assert score.interval_high is not None
        yield f"{100 * score.rate:.1f} %"
        yield f"{100 * score.interval_low:.1f} to {100 * score.interval_high:.1f}"
    for outcome, number in score.outcomes.items():
        yield f"{outcome.replace('_', ' ')} {number:,}"


def result_numbers(result: RunResult) -> Iterator[str]:
    for score in (result.base_selection, result.base_official, result.selected_official):
        yield from score_numbers(score)
    for score in (result.base_official, result.selected_official):
        for family in score.families:
            yield f"{family.passed} / {family.counted}"
    for attempt in result.attempts:
        yield from (
            f"{attempt.rows:,}",
            f"{attempt.train_tokens:,}",
            f"{attempt.steps:,}",
            f"{attempt.learning_rate:g}",
        )
        yield from (str(attempt.adapter_sha256), attempt.hypothesis, f"${attempt.training_micro_usd / 1e6:.4f}")
        if attempt.score is not None and attempt.score.rate is not None:
            yield f"{100 * attempt.score.rate:.1f} %"
    yield from (result.protocol_digest, result.price_table, result.price_date, result.price_model, result.run_id)
    if result.official_difference is not None and result.selected_attempt is not None:
        yield f"{100 * abs(result.official_difference.mean):.1f} points"


def check_structure(page: ParsedPage) -> None:
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in page.elements:
        for name in ("aria-labelledby", "for"):
            assert element.attributes.get(name, ids[0]) in ids
        if element.tag == "a":
            assert element.attributes["href"].removeprefix("#") in ids
    levels = [int(element.tag[1]) for element in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(page.all("table")) == len(page.all("caption"))
    assert all(
        page.elements[place + 1].tag == "caption" for place, one in enumerate(page.elements) if one.tag == "table"
    )
    assert all(element.attributes.get("scope") for element in page.all("th"))
    assert all(element.attributes.get("aria-label") for element in page.elements if "tabindex" in element.attributes)
    assert all(element.attributes.get("aria-hidden") == "true" for element in page.all("svg"))


def test_every_number_of_the_result_is_on_the_page(drawn: Drawn) -> None:
    visible = squeezed(drawn.page.visible)
    missing = [text for text in result_numbers(drawn.record.result) if squeezed(text) not in visible]
    assert not missing


def test_each_attempt_has_its_own_numbers_in_its_row(drawn: Drawn) -> None:
    attempts = drawn.record.result.attempts
    if not attempts:
        assert "No attempt was trained" in drawn.page.visible
        return
    head, base, *rows = drawn.page.table("Every attempt")
    assert base[0] == "base"
    assert len(rows) == len(attempts)
    for attempt, cells in zip(attempts, rows, strict=True):
        row = dict(zip(head, cells, strict=True))
        assert row["attempt"].split()[0] == str(attempt.attempt)
        assert ("committed" in row["attempt"]) == (attempt.attempt == drawn.record.result.selected_attempt)
        assert row["rows"] == f"{attempt.rows:,}"
        assert row["tokens"] == f"{attempt.train_tokens:,}"
        assert (row["epochs"], row["rank"]) == (str(attempt.epochs), str(attempt.lora_rank))
        assert row["cost"] == f"${(attempt.training_micro_usd + attempt.sampling_micro_usd) / 1e6:.4f}"
        assert ("near no-op" in row["delta norm"]) == bool(attempt.near_noop)
        assert row["adapter"] == (attempt.adapter_sha256 or "")[:12]
        rate = None if attempt.score is None else attempt.score.rate
        assert (row["selection score [95 %]"][:1].isdigit()) == (rate is not None)
        assert rate is None or row["selection score [95 %]"].startswith(f"{100 * rate:.1f} % [")


def test_each_family_has_its_own_numbers_in_its_row(drawn: Drawn) -> None:
    result = drawn.record.result
    _, *rows = drawn.page.table("Passed of counted official trials")
    kept = result.selected_attempt is None
    sides = [result.base_official] if kept else [result.base_official, result.selected_official]
    expected = {"all": [f"{score.passed} / {score.counted}" for score in sides]}
    for families in zip(*(score.families for score in sides), strict=True):
        expected[families[0].family] = [f"{family.passed} / {family.counted}" for family in families]
    assert {row[0]: [row[1]] if kept else [row[1], row[3]] for row in rows} == expected
    changes = [float(row[5].replace("−", "-")) for row in rows[:-1]] if not kept else []
    assert changes == sorted(changes, reverse=True)


def test_money_is_told_by_attempt_and_by_account(drawn: Drawn) -> None:
    result = drawn.record.result
    accounts = {row[0]: row[1:] for row in drawn.page.table("Accounts of the run")[1:]}
    training = sum(attempt.training_micro_usd for attempt in result.attempts)
    assert accounts["training"][0] == (f"${training / 1e6:.4f}" if training else "$0")
    assert accounts["attempts"][0] == str(len(result.attempts))
    assert accounts["research time"][:2] == ["7 min 42 s", "30 min 0 s"]  # of the made-up record and the profile
    assert accounts["rollouts"][1] == "no budget"
    if result.attempts:
        rows = drawn.page.table("What each attempt cost")[1:]
        assert rows == [
            [str(one.attempt), f"${one.training_micro_usd / 1e6:.4f}", f"${one.sampling_micro_usd / 1e6:.4f}"]
            for one in result.attempts
        ]


def test_what_became_of_the_trials_adds_up(drawn: Drawn) -> None:
    rows = drawn.page.table("Official trials by what became of them")[1:]
    assert sum(int(row[1]) for row in rows) == len(drawn.record.official_items)
    assert all(int(row[1]) > 0 for row in rows)


def test_unseen_templates_are_told_apart(drawn: Drawn) -> None:
    record = drawn.record
    shown = {item.template for item in record.selection_items}
    new = [trial for trial in record.base_official_trials if trial.template not in shown]
    if not new:
        assert "nothing to split" in drawn.page.visible
        return
    last = drawn.page.table("Passed of counted, by whether")[-1]
    counted = [trial for trial in new if TRIAL_RULES[trial.verdict.outcome].counts]
    passed = sum(trial.verdict.outcome is TrialOutcome.PASS for trial in counted)
    place = 2 if record.result.selected_attempt is None else 4
    assert last[place] == f"{passed} / {len(counted)}"


def test_it_opens_with_the_outcome_that_commands_print(drawn: Drawn) -> None:
    (outcome,) = (one for one in drawn.page.all("p") if one.attributes.get("class") == "outcome")
    assert outcome.own_text == outcome_text(drawn.record.result)


def test_it_names_where_the_proof_is(drawn: Drawn) -> None:
    record = drawn.record
    for text in (record.journal_head, f"rsibench verify {record.result.run_id}", record.lock.machine.processor):
        assert text in drawn.page.visible
    assert "unisolated" in drawn.page.visible


def test_it_is_well_formed_and_navigable(drawn: Drawn) -> None:
    check_structure(drawn.page)


def test_it_asks_for_nothing(drawn: Drawn) -> None:
    assert drawn.page.loading() == []
    assert not re.search(r"https?://|\bsrc\s*=|@import|url\(|\bfetch\(|XMLHttp|import\(", drawn.text)


def test_its_policy_allows_its_own_style_and_script_and_nothing_else(drawn: Drawn) -> None:
    (policy,) = (one.attributes["content"] for one in drawn.page.all("meta") if "http-equiv" in one.attributes)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    (style,) = drawn.page.all("style")
    script = next(one for one in drawn.page.all("script") if "type" not in one.attributes)
    for name, element in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(element.own_text.encode()).digest()).decode()
        assert rules.pop(name) == f"'sha256-{digest}'"
    assert not rules


def test_expected_answers_stay_out() -> None:
    secret = "the-expected-answer-4711"
    record = made_up_record(MadeUp(families=("a", "b"), official_per_family=6, selection_per_family=6))
    items = tuple(item.model_copy(update={"expected": secret, "context": secret}) for item in record.official_items)
    assert secret not in run_page(replace(record, official_items=items))


def test_it_is_the_same_twice() -> None:
    record = made_up_record(MadeUp(families=("a", "b"), official_per_family=6, selection_per_family=6))
    assert run_page(record) == run_page(record)


def test_importing_it_loads_no_drawing_library() -> None:
    heavy = "{'altair', 'vl_convert', 'torch'}"
    code = f"import sys, rsibench.report.page, rsibench.report.tables; print({heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
