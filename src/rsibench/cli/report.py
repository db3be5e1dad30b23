"""`rsibench report RUN|CAMPAIGN|published|all`: pages with every number, and a summary on the terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from rsibench.analysis.findings.findings import findings
from rsibench.analysis.findings.records import Findings
from rsibench.analysis.frames.collect import collect, gathered
from rsibench.analysis.frames.folder import LazyFrames, frames_for_findings, read_frames
from rsibench.analysis.frames.schema import Frames
from rsibench.campaign.cell import cells
from rsibench.cli.here import here
from rsibench.cli.output import console, print_json
from rsibench.cli.page import write_page
from rsibench.cli.published import published
from rsibench.cli.run import show_result
from rsibench.errors import SpecError
from rsibench.report.findings_files import write_findings
from rsibench.report.findings_tables import chance_lines, researchers_table
from rsibench.report.findings_wording import detectable_text, outcome_text
from rsibench.report.page import run_page
from rsibench.run.archive import all_runs, open_archived, read_record
from rsibench.run.home import Home
from rsibench.spec.campaign import CampaignSpec
from rsibench.spec.catalogue import campaign_names, load_campaign

PUBLISHED = "published"
ALL = "all"


def report(
    what: str, *, out: Path | None = None, frames: Path | None = None, seed: int = 0, json: bool = False
) -> None:
    """Write the self-contained pages of a run, of a campaign or of any set of runs, and print what they show.

    Parameters
    ----------
    what
        A run's name; a campaign's name or YAML file; `all` for every run here; `published` for the published results.
    out
        Where to write: for a run the page's file, by default in the run's folder; otherwise a folder.
    frames
        A folder of Parquet tables to read in place of the runs here; with `all` or a campaign.
    seed
        Seed of what is drawn in a report over several runs.
    json
        Print the numbers as JSON.
    """
    if what == PUBLISHED:
        published(out=out, json=json)
        return
    home = here()
    campaign = _campaign(what, home)
    if campaign is None and what != ALL:
        _one_run(home, what, out, json)
        return
    tables = _tables(home, campaign, frames)
    if tables.runs.height == 0:
        raise SpecError("none of its runs was begun here", where=f"report {what}", fix="run some, then report")
    found = findings(tables, campaign.title if campaign else "all runs", seed=seed)
    page = None
    if out is not None:
        page = write_findings(found, out, [] if frames is not None else _pages(home, found))
    if json:
        print_json(found)
    else:
        _show(found, page)


def _campaign(what: str, home: Home) -> CampaignSpec | None:
    """The campaign that `what` names, unless there is a run of that name."""
    is_file = what.endswith((".yaml", ".yml"))
    if not is_file and what not in campaign_names():
        return None
    if not is_file and home.has_store and any(one.run.run_id == what for one in all_runs(home)):
        return None
    return load_campaign(what)


def _one_run(home: Home, run: str, out: Path | None, json: bool) -> None:
    page = write_page(home, run, out)
    with open_archived(home, run) as archived:
        result = read_record(archived).result
    if json:
        print_json(result)
    else:
        show_result(result, console(), page)


def _tables(home: Home, campaign: CampaignSpec | None, folder: Path | None) -> Frames:
    """The runs' tables, from a folder of frames or from the runs themselves."""
    names = None if campaign is None else [cell.run_id for cell in cells(campaign)]
    if folder is not None:
        lazy = read_frames(folder)
        if names is not None:
            lazy = LazyFrames(*(table.filter(pl.col("run_id").is_in(names)) for table in lazy))
        return frames_for_findings(lazy)
    if names is None:
        return gathered(collect(home))
    if not home.has_store:
        return gathered([])
    begun = {one.run.run_id for one in all_runs(home)}
    return gathered(collect(home, [name for name in names if name in begun]))


def _pages(home: Home, found: Findings) -> list[tuple[str, Callable[[], str]]]:
    """What makes the page of each finished run."""

    def page(run_id: str) -> Callable[[], str]:
        def make() -> str:
            with open_archived(home, run_id) as archived:
                return run_page(read_record(archived))

        return make

    names = [run.run_id for protocol in found.protocols for one in protocol.researchers for run in one.runs]
    return [(name, page(name)) for name in names]


def _show(found: Findings, page: Path | None) -> None:
    out = console()
    out.print(outcome_text(found), markup=False)
    for protocol in found.protocols:
        out.print(researchers_table(protocol))
        for line in chance_lines(protocol):
            out.print(f"  {line}", markup=False)
        out.print(f"  {detectable_text(protocol)}", markup=False)
    if page is not None:
        out.print(f"\npage: {page}", markup=False, soft_wrap=True)
