"""What the pages are made from: the runs of one home, opened for each look and closed after it."""

from __future__ import annotations

from rsibench.analysis.findings.findings import findings
from rsibench.analysis.frames.collect import collect, gathered
from rsibench.report.findings_page import findings_page
from rsibench.report.page import run_page
from rsibench.report.templating import environment
from rsibench.run.archive import all_runs, open_archived, read_record
from rsibench.run.home import Home
from rsibench.serve.glance import Glance, glance
from rsibench.store.runs import RunSummary


class Library:
    """Pages of a home's runs. Safe to use from several threads."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def runs(self) -> list[RunSummary]:
        """Every run, newest first; none where nothing was ever run."""
        return list(reversed(all_runs(self._home))) if self._home.has_store else []

    def heads(self) -> dict[str, int]:
        """How many events each run has: what grows whenever something happens."""
        return {one.run.run_id: one.events for one in self.runs()}

    def glance(self, run_id: str) -> Glance:
        """One run as it stands. Raises SpecError when there is none of that name."""
        with open_archived(self._home, run_id) as archived:
            return glance(archived)

    def sealed_page(self, run_id: str) -> str:
        """The self-contained page of a finished run."""
        with open_archived(self._home, run_id) as archived:
            return run_page(read_record(archived))

    def findings_page(self) -> str | None:
        """The page over every run here; None where there is none."""
        tables = gathered(collect(self._home)) if self._home.has_store else None
        if tables is None or tables.runs.height == 0:
            return None
        return findings_page(findings(tables, "all runs"))

    def index_page(self) -> str:
        """The list of runs, which follows what happens."""
        return environment().get_template("serve_index.html").render(runs=self.runs())

    def index_part(self) -> str:
        """The part of the list that changes."""
        return environment().get_template("serve_runs.html").render(runs=self.runs())

    def live_page(self, one: Glance) -> str:
        """The page of a run that goes on."""
        return environment().get_template("serve_run.html").render(one=one)

    def live_part(self, one: Glance) -> str:
        """The part of that page that changes."""
        return environment().get_template("serve_glance.html").render(one=one)
