"""`rsibench export` and `rsibench import`: runs for other tools, and other tools' results as frames."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rsibench.analysis.frames.collect import collect
from rsibench.analysis.frames.folder import write_frames
from rsibench.cli.here import here
from rsibench.cli.output import console, print_json
from rsibench.errors import IntegrityError, SpecError
from rsibench.exchange.dataset_folder import write_dataset
from rsibench.exchange.harbor_job import ImportedJob, job_frames, read_harbor_job, read_rsigym_job
from rsibench.exchange.inspect_log import write_logs
from rsibench.run.archive import open_archived, open_store, read_record
from rsibench.run.bundle import SUFFIX, import_bundle, opened_bundle, write_bundle
from rsibench.run.home import Home
from rsibench.run.verify import verify


def export(
    *run: str,
    out: Path,
    to: Literal["bundle", "inspect", "dataset"] = "bundle",
    answers: bool = False,
    json: bool = False,
) -> None:
    """Write runs for others: bundles that anybody can verify, or what other tools read.

    Parameters
    ----------
    run
        Names of runs; with `dataset` every run when none is named.
    out
        A folder; for `dataset` a new one.
    to
        `bundle`: one file a run with everything that `rsibench verify` needs, offline.
        `inspect`: Inspect logs, one a checkpoint and split. `dataset`: Parquet tables with a card.
    answers
        Put expected answers into Inspect logs. They would give a held-out split away; off by default.
    json
        Print what was written as JSON.
    """
    home = here()
    if not run and to != "dataset":
        raise SpecError("no run is named", where="export", fix="name one; `rsibench status` lists them")
    if to == "dataset":
        written = write_dataset(collect(home, list(run) or None), out)
        files = [str(out.resolve())]
    elif to == "bundle":
        written = len(run)
        files = [str(_bundle(home, name, out).resolve()) for name in run]
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


def import_(
    *job: Path,
    out: Path | None = None,
    source: Literal["bundle", "harbor", "rsigym"] = "bundle",
    json: bool = False,
) -> None:
    """Add bundles to the runs here, or read other tools' results into tables that `report all --frames` shows.

    Parameters
    ----------
    job
        Bundles, Harbor job folders, or RSIGym job records.
    out
        A new folder for the tables; not for bundles.
    source
        What the inputs are.
    json
        Print what was read as JSON.
    """
    if not job:
        raise SpecError("nothing is named", where="import", fix="name bundles, job folders or records")
    if source == "bundle":
        _import_bundles(job, json=json)
        return
    if out is None:
        raise SpecError("tables need a place", where="--out", fix="name a new folder")
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


def _bundle(home: Home, run_id: str, folder: Path) -> Path:
    path = folder / f"{run_id}{SUFFIX}"
    folder.mkdir(parents=True, exist_ok=True)
    write_bundle(home, run_id, path)
    return path


def _import_bundles(paths: tuple[Path, ...], *, json: bool) -> None:
    """Each bundle is verified before its run is added; one that does not agree with itself stays out."""
    added = []
    for path in paths:
        with (
            opened_bundle(path) as (bundle, manifest),
            open_archived(bundle, manifest.run_id) as run,
            open_store(bundle) as store,
        ):
            found = verify(run, store)
        if not found.ok:
            problem = next(check.problem for check in found.checks if not check.ok)
            fix = f"`rsibench verify {path}` says what differs; it was not added"
            raise IntegrityError(problem, where=str(path), fix=fix)
        added.append(import_bundle(path, here()))
    if json:
        print_json({"runs": [one._asdict() for one in added]})
        return
    for one in added:
        console().print(f"{one.run_id}: verified and added, journal head {one.journal_head}", markup=False)
