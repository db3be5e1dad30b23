"""`rsibench export` and `rsibench import`: runs for other tools, and other tools' results as frames."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rsibench.analysis.frames.collect import collect
from rsibench.analysis.frames.folder import write_frames
from rsibench.cli.here import here
from rsibench.cli.output import console, print_json
from rsibench.exchange.dataset_folder import write_dataset
from rsibench.exchange.harbor_job import ImportedJob, job_frames, read_harbor_job, read_rsigym_job
from rsibench.exchange.inspect_log import write_logs
from rsibench.run.archive import open_archived, read_record


def export(
    *run: str, out: Path, to: Literal["inspect", "dataset"] = "inspect", answers: bool = False, json: bool = False
) -> None:
    """Write finished runs for other tools.

    Parameters
    ----------
    run
        Names of runs; with `dataset` every run when none is named.
    out
        A folder; for `dataset` a new one.
    to
        `inspect`: Inspect logs, one a checkpoint and split. `dataset`: Parquet tables with a card.
    answers
        Put expected answers into Inspect logs. They would give a held-out split away; off by default.
    json
        Print what was written as JSON.
    """
    home = here()
    if to == "dataset":
        written = write_dataset(collect(home, list(run) or None), out)
        files = [str(out.resolve())]
    else:
        files, written = [], len(run)
        for name in run:
            with open_archived(home, name) as archived:
                files += [
                    str(path.resolve()) for path in write_logs(read_record(archived), out / name, answers=answers)
                ]
    if json:
        print_json({"runs": written, "files": files})
    else:
        console().print(f"{written} runs: {len(files)} files in {out}", markup=False, soft_wrap=True)


def import_(*job: Path, out: Path, source: Literal["harbor", "rsigym"] = "harbor", json: bool = False) -> None:
    """Read other tools' results into Parquet tables that `report all --frames` shows.

    Parameters
    ----------
    job
        Harbor job folders, or RSIGym job records.
    out
        A new folder for the tables.
    source
        What the inputs are.
    json
        Print what was read as JSON.
    """
    jobs: list[ImportedJob] = []
    for one in job:
        jobs += [read_harbor_job(one)] if source == "harbor" else read_rsigym_job(one)
    frames = job_frames(jobs)
    write_frames([frames], out)
    coverage = frames.runs.select("run_id", "official", "official_coverage").to_dicts()
    if json:
        print_json({"folder": str(out.resolve()), "jobs": coverage})
        return
    for row in coverage:
        score = "no score" if row["official"] is None else f"{row['official']:.3f}"
        console().print(f"{row['run_id']}: {score}, {row['official_coverage']:.0%} of its trials count", markup=False)
