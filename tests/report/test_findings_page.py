"""The page over several runs: well formed, inert whatever a name holds, and its tables say what the findings say."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from rsibench.analysis.findings.findings import findings
from rsibench.analysis.findings.records import Findings
from rsibench.analysis.frames.schema import Frames
from rsibench.errors import EnvironmentFault
from rsibench.report.findings_files import write_findings
from rsibench.report.findings_page import findings_page
from rsibench.report.findings_tables import chance_lines, researchers_table
from rsibench.report.findings_wording import outcome_text
from rsibench.report.wording import points
from rsibench.testing.made_frames import MadeResearcher, made_frames
from rsibench.testing.pages import parse_page

HOSTILE = '=cmd|"<script>alert(1)</script>\u202e\x1b[31m' + "x" * 300


@pytest.fixture(scope="module")
def made() -> Frames:
    researchers = [MadeResearcher("skilled", skill=0.2), MadeResearcher("best-of-n"), MadeResearcher("no-op")]
    return made_frames(researchers, seeds=3, tasks=60, seed=1)


@pytest.fixture(scope="module")
def found(made: Frames) -> Findings:
    return findings(made, "made up")


def test_the_page_is_well_formed_and_asks_nothing_of_the_network(found: Findings) -> None:
    page = parse_page(findings_page(found))
    assert page.loading() == []
    assert page.all("script") == []
    headings = [element.text for element in page.all("h2")]
    assert headings == ["made 1", "Methods"]
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    links = [element.attributes["href"][1:] for element in page.all("a")]
    assert set(links) <= {*ids}


def test_tables_say_what_the_findings_say(found: Findings) -> None:
    page = parse_page(findings_page(found))
    (protocol,) = found.protocols
    rows = page.table("Official scores. “Told apart”")[1:]
    assert [row[0] for row in rows] == [one.researcher for one in protocol.researchers]
    for row, one in zip(rows, protocol.researchers, strict=True):
        assert one.gain is not None
        assert row[3].startswith(points(one.gain.value))
    skilled = next(row for row in rows if row[0] == "skilled")
    assert skilled[4] == "above base"
    assert skilled[5] == "above best-of-n, no-op"
    runs = page.table("Every finished run")[1:]
    assert len(runs) == 9
    assert "skilled (" in outcome_text(found)


def test_every_chart_has_its_numbers_in_a_table(found: Findings) -> None:
    page = parse_page(findings_page(found))
    charts = [one for one in page.all("div") if "Chart of" in one.attributes.get("aria-label", "")]
    assert len(charts) >= 2 + 2 * 3
    assert all(one.inside("svg") for one in charts)
    assert all(one.attributes["tabindex"] == "0" for one in charts)


def test_a_hostile_name_is_inert_everywhere(made: Frames, tmp_path: Path) -> None:
    renamed = pl.when(pl.col("researcher") == "skilled").then(pl.lit(HOSTILE)).otherwise(pl.col("researcher"))
    hostile = findings(made._replace(runs=made.runs.with_columns(researcher=renamed)), HOSTILE)
    text = findings_page(hostile)
    page = parse_page(text)
    assert page.all("script") == []
    assert page.loading() == []
    assert "\u202e" not in text
    assert "\x1b" not in text
    write_findings(hostile, tmp_path / "out")
    with (tmp_path / "out" / "researchers.csv").open(newline="") as file:
        names = [row["researcher"] for row in csv.DictReader(file)]
    assert "'" + HOSTILE in names
    lines = " ".join(chance_lines(hostile.protocols[0]))
    assert "\x1b" not in lines
    researchers_table(hostile.protocols[0])


def test_the_folder_holds_the_same_numbers_as_json_and_csv(found: Findings, tmp_path: Path) -> None:
    pages = [("made-skilled-00000", lambda: "<!doctype html>")]
    index = write_findings(found, tmp_path / "out", pages)
    assert Findings.model_validate_json((tmp_path / "out" / "findings.json").read_bytes()) == found
    json.loads((tmp_path / "out" / "findings.json").read_text())
    with (tmp_path / "out" / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == found.runs
    with (tmp_path / "out" / "pairs.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 3
    links = [one.attributes["href"] for one in parse_page(index.read_text()).all("a")]
    assert [link for link in links if not link.startswith("#")] == ["runs/made-skilled-00000.html"]
    assert (tmp_path / "out" / "runs" / "made-skilled-00000.html").is_file()


def test_a_folder_that_cannot_be_written_is_said(found: Findings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EnvironmentFault, match="cannot be written"):
        write_findings(found, tmp_path / "file")
