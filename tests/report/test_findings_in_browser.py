"""The page over several runs in a real browser: no sideways scrolling on a phone, charts drawn, dark where asked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rsibench.analysis.findings.findings import findings
from rsibench.report.findings_page import findings_page
from rsibench.testing.made_frames import MadeResearcher, made_frames
from rsibench.testing.pages import parse_page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--dump-dom", "--window-size=400,800"),
)
PROBE = """<script>
const root = document.documentElement;
const svgs = [...document.querySelectorAll("figure svg, .charts svg")];
const drawings = svgs.filter((one) => one.getBoundingClientRect().height > 40);
const focusable = [...document.querySelectorAll("a, [tabindex], summary")];
focusable[0].focus();
document.title = [innerWidth, root.scrollWidth, drawings.length, getComputedStyle(document.body).backgroundColor,
  document.activeElement.className, focusable.length].join(";");
</script>"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine to open the page with")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(tmp_path: Path, scheme: str) -> None:
    """The probe needs the policy taken out, so it is a copy that is opened."""
    assert BROWSER is not None
    researchers = [MadeResearcher("skilled", skill=0.2), MadeResearcher("a-researcher-with-a-name-of-some-length")]
    text = findings_page(findings(made_frames(researchers, seeds=2, tasks=40), "made up"))
    policy = next(line for line in text.splitlines() if "Content-Security-Policy" in line)
    file = tmp_path / "probed.html"
    file.write_text(text.replace(policy, "").replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    dark = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0") if scheme == "dark" else ()
    command = [BROWSER, *FLAGS, *dark, f"--user-data-dir={tmp_path / 'browser'}", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    (title,) = parse_page(done.stdout).all("title")
    width, needed, drawings, background, focused, reachable = title.own_text.split(";")
    assert int(width) <= 500
    assert int(needed) <= int(width)
    assert int(drawings) == 2 + 2 + 2
    assert focused == "skip"
    assert int(reachable) > 10
    brightness = sum(int(part) for part in background[4:-1].split(","))
    assert (brightness < 300) == (scheme == "dark")
