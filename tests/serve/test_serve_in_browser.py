"""The live page in a real browser: it changes by itself when the journal does."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.journal.events import IncidentRecorded
from rsibench.run.execute import prepare
from rsibench.serve.library import Library
from rsibench.serve.server import PageServer
from rsibench.testing.browser import BROWSER, BrowserPage
from rsibench.testing.runs import TinyRuns

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine to open the page with")

_SEEN = """new Promise((done) => {
  const look = () => document.body.innerText.includes("seen-by-itself") ? done(true) : setTimeout(look, 50);
  look();
})"""
_WIDTHS = "[innerWidth, document.documentElement.scrollWidth]"


def test_what_happens_appears_without_a_reload(tmp_path: Path) -> None:
    runs = TinyRuns(tmp_path)
    with runs.open(runs.plan("no-op", run_id="watched")) as context:
        prepare(context)
        with (
            PageServer(Library(runs.home)) as server,
            BrowserPage(f"{server.address}runs/watched", tmp_path / "browser") as page,
        ):
            assert "seen-by-itself" not in page.evaluate("document.body.innerText")
            page.evaluate("window.stays = 1")
            context.journal.append(IncidentRecorded(incident="seen-by-itself", detail="a test"))
            assert page.evaluate(_SEEN) is True
            assert page.evaluate("window.stays") == 1  # the page was not loaded again
            width, needed = page.evaluate(_WIDTHS)
            assert needed <= width
