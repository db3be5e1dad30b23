"""The page of the published results: its facts, its structure, and that it needs and loads nothing else."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from rsibench.cli.published import published as command
from rsibench.errors import EnvironmentFault
from rsibench.report.published import published_csv, published_page
from rsibench.report.published_view import PublishedView, published_json, published_view
from rsibench.testing.pages import ParsedPage, parse_page

FACTS = [
    "14 of 24 (58.3 %)",
    "18 of 23 (78.3 %)",
    "23 went on after first reaching their best; 18 of them ended below it, 5 only got back to it",
    "A median of 4.5 valid attempts, from 2 to 15",
    "SWE-V 1, SWE-ML 2, SWE-Pro 1, TB2 3, GPQA 4, AIME 3",
    "GPQA +4.00 points, AIME +25.42 points",
    "differ by 3.89 points on average over the 12 settings of GPQA, AIME, TB2",
    "median 6.55 h (1.14 to 14.91) and $62.51 ($4.80 to $363.77)",
    "No researcher has the best score on every profile; the three SWE-bench profiles have 3 different best",
    "4 of 24 cells are below base",
    "$23.79 to $96.74",
    "cannot be paired by task",
]


@pytest.fixture(scope="module")
def view() -> PublishedView:
    return published_view()


@pytest.fixture(scope="module")
def text(view: PublishedView) -> str:
    return published_page(view)


@pytest.fixture(scope="module")
def page(text: str) -> ParsedPage:
    return parse_page(text)


@pytest.mark.parametrize("fact", FACTS)
def test_every_published_fact_is_on_the_page(page: ParsedPage, fact: str) -> None:
    assert fact in " ".join(page.visible.split())


def test_the_matrix_has_every_cell_with_its_interval(page: ParsedPage, view: PublishedView) -> None:
    head, *rows = page.table("Official scores in percent as published")
    assert head[1:-1] == [profile.short for profile in view.published.profiles]
    assert len(rows) == 6
    opus = next(row for row in rows if "Opus" in row[0])
    assert opus[1] == "46 [36.6 to 55.7]"  # Wilson interval of 46 in 100
    assert opus[2].startswith("5 [")
    assert opus[2].endswith("below base")
    assert [row[-1] for row in rows if "sol" in row[0]] == ["27.277"]


def test_each_rate_stands_beside_its_null(page: ParsedPage, view: PublishedView) -> None:
    _, *rows = page.table("Counts as published")
    assert [row[1] for row in rows] == [
        "14 of 24 (58.3 %)",
        "18 of 23 (78.3 %)",
        "5 of 23 (21.7 %)",
        "23 of 24 (95.8 %)",
    ]
    for row, null in zip(rows, view.nulls[0].rates, strict=True):
        assert row[2] == f"{null.expected * 100:.1f} %"
        assert row[5].startswith("p ")
    _, *assumed = page.table("Attempts: only their median")
    assert len(assumed) == len(view.nulls) == 12


def test_published_aggregates_are_marked(page: ParsedPage) -> None:
    marks = [one.text for one in page.all("span") if one.attributes.get("class") == "mark"]
    assert marks.count("as published") >= 3


def test_structure_for_keyboards_and_readers(page: ParsedPage) -> None:
    ids = [one.attributes["id"] for one in page.elements if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    for one in page.elements:
        assert one.attributes.get("aria-labelledby", ids[0]) in ids
    links = page.all("a")
    assert links[0].attributes["class"] == "skip"
    assert all(link.attributes["href"].removeprefix("#") in ids for link in links)
    levels = [int(one.tag[1]) for one in page.all("h1", "h2", "h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(table.children[0].tag == "caption" for table in page.all("table"))
    assert all(one.attributes.get("scope") for one in page.all("th"))
    scrolling = [one for one in page.elements if one.attributes.get("class") == "scroll"]
    assert all(one.attributes["tabindex"] == "0" and one.attributes["aria-label"] for one in scrolling)
    inside = [table for one in scrolling for table in one.inside("table")]
    assert len(inside) == len(page.all("table"))


def test_every_chart_is_decoration_beside_a_table(page: ParsedPage) -> None:
    charts = page.all("svg")
    assert len(charts) == 8  # six profiles, process rates, cost
    for chart in charts:
        assert chart.attributes["aria-hidden"] == "true"
        assert float(chart.attributes["width"]) <= 368  # a 400 px screen less the page's margins
        assert chart.inside("path")
    for section in page.all("section"):
        if section.inside("svg"):
            assert section.inside("table")


def test_nothing_is_loaded_and_the_policy_allows_only_the_style(text: str, page: ParsedPage) -> None:
    assert page.loading() == []
    assert page.all("script") == []
    assert "http:" not in text.replace("http-equiv", "")
    assert "https:" not in text
    (policy,) = (one.attributes["content"] for one in page.all("meta") if "http-equiv" in one.attributes)
    (style,) = page.all("style")
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert f"style-src 'sha256-{digest}'" in policy
    assert "script-src" not in policy


def test_dark_and_light_use_the_same_drawing(page: ParsedPage) -> None:
    (style,) = page.all("style")
    assert "prefers-color-scheme: dark" in style.text
    fixed = re.compile(r"^(#|rgb)")
    painted = [one.attributes[name] for one in page.elements for name in ("fill", "stroke") if name in one.attributes]
    coloured = [value for value in painted if value not in ("none", "transparent")]
    assert coloured
    assert not [value for value in coloured if fixed.match(value)]


def test_names_from_a_facts_file_are_escaped(view: PublishedView) -> None:
    attack = "<img src=x onerror=alert(1)>"
    first, *others = view.published.researchers
    hostile = first.model_copy(update={"title": attack, "short": attack})
    changed = view.published.model_copy(update={"researchers": (hostile, *others)})
    rows = (view.rows[0]._replace(researcher=hostile), *view.rows[1:])
    page = parse_page(published_page(replace(view, published=changed, rows=rows)))
    assert page.loading() == []
    assert attack in page.visible


def test_json_has_the_same_numbers(view: PublishedView) -> None:
    data = json.loads(json.dumps(published_json(view)))
    quoted = {entry["rate"]: entry for entry in data["headline_rates"][0]["rates"]}
    assert quoted["discovery"]["observed"] == {"events": 14, "of": 24}
    assert quoted["post-peak regression"]["observed"] == {"events": 18, "of": 23}
    assert data["computed_from_cells"]["tinker_usd"]["median"] == "62.51"
    assert data["facts_file"]["process"]["recovered"] == 5


def test_csv_has_one_line_a_cell(view: PublishedView) -> None:
    rows = list(csv.DictReader(published_csv(view).splitlines()))
    assert len(rows) == 36
    sol = next(row for row in rows if row["researcher"] == "gpt-5.6-sol" and row["profile"] == "aime-2026")
    assert (sol["passed"], sol["trials"], sol["hours"], sol["tinker_usd"]) == ("64", "120", "8.9", "63.65")
    assert float(sol["gain"]) == pytest.approx(64 / 120 - 36 / 120, abs=1e-6)
    later = next(row for row in rows if row["researcher"] == "kimi-k3" and row["profile"] == "terminal-bench-2")
    assert (later["passed"], later["hours"]) == ("", "")


def test_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(out=tmp_path / "made" / "here")
    printed = " ".join(capsys.readouterr().out.split())
    assert "14 of 24 (58.3 %)" in printed
    assert "$62.51 ($4.80 to $363.77)" in printed
    assert sorted(file.name for file in (tmp_path / "made" / "here").iterdir()) == [
        "cells.csv",
        "index.html",
        "published.json",
    ]
    command(json=True)
    assert json.loads(capsys.readouterr().out)["facts_file"]["process"]["discovered"] == 14


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(EnvironmentFault, match="cannot be written"):
        command(out=tmp_path / "file" / "inside")
