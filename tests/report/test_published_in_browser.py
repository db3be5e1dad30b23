"""The published results' page in a real browser, as narrow as a small phone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rsibench.report.published import published_page
from rsibench.report.published_view import published_view
from rsibench.testing.pages import parse_page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--dump-dom", "--window-size=400,800"),
)
PROBE = """<script>
const root = document.documentElement;
const style = getComputedStyle(document.body);
document.title = [innerWidth, root.scrollWidth, style.backgroundColor].join(";");
</script>"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine to open the page with")


def test_the_page_itself_never_scrolls_sideways_on_a_phone(tmp_path: Path) -> None:
    """Only the framed tables and drawings may. The probe needs the policy taken out, so it is a copy that is opened."""
    assert BROWSER is not None
    text = published_page(published_view())
    policy = next(line for line in text.splitlines() if "Content-Security-Policy" in line)
    file = tmp_path / "probed.html"
    file.write_text(text.replace(policy, "").replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    command = [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'browser'}", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    (title,) = parse_page(done.stdout).all("title")
    width, needed, background = title.own_text.split(";")
    assert int(width) <= 500
    assert int(needed) <= int(width)
    assert background.startswith("rgb(")
