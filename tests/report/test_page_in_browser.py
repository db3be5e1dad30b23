"""The page in a real browser: its own script runs under its policy, and hostile text does nothing there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rsibench.report.page import run_page
from rsibench.testing.pages import ParsedPage, parse_page
from rsibench.testing.records import MadeUp, made_up_record

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--dump-dom"),
)
FEW = MadeUp(families=("sums", "dates"), official_per_family=15, selection_per_family=6)
ATTACK = "</script><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">"

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine to open the page with")


def opened(wish: MadeUp, folder: Path) -> ParsedPage:
    """The document after the browser has loaded it from disk and run what it may run."""
    assert BROWSER is not None
    file = folder / "report.html"
    file.write_text(run_page(made_up_record(wish)), encoding="utf-8")
    command = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'browser'}", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return parse_page(done.stdout)


def test_the_script_lists_the_trials(tmp_path: Path) -> None:
    page = opened(FEW, tmp_path)
    (status,) = (one for one in page.elements if one.attributes.get("id") == "trials-status")
    assert status.own_text == "1 to 20 of 30"
    (form,) = page.all("form")
    assert "hidden" not in form.attributes
    listed = [one for one in page.all("summary") if "official-" in one.own_text]
    assert len(listed) == 20


def test_hostile_text_does_nothing(tmp_path: Path) -> None:
    fields = ("output", "prompt", "hypothesis", "row", "problem", "event", "reason", "incident", "label")
    wish = MadeUp(families=(ATTACK, "dates"), official_per_family=15, texts=dict.fromkeys(fields, ATTACK))
    page = opened(wish, tmp_path)
    (title,) = page.all("title")
    assert title.own_text != "hit"
    assert page.loading() == []
    (status,) = (one for one in page.elements if one.attributes.get("id") == "trials-status")
    assert status.own_text == "1 to 20 of 30"
