"""How long a full report over many recorded runs takes and how much memory, from Parquet tables.

    python benchmarks/report_scale.py [--runs 10000] [--attempts 8] [--tasks 100]

Makes up runs of ten researchers, writes them as frames in parts, and reports on them in a process of its own: reading,
findings, page, JSON and CSV. The peer is a plain read of the same tables with every row hashed, in the same run.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rsibench.analysis.findings.findings import findings
from rsibench.analysis.frames.folder import frames_for_findings, read_frames, write_frames
from rsibench.analysis.frames.schema import Frames
from rsibench.report.findings_files import write_findings
from rsibench.testing.made_frames import MadeResearcher, made_frames

RESEARCHERS = 10
_AT_ONCE = 20
_KIBIBYTES = 1024
_MEBIBYTES = 1024**2


def make(folder: Path, runs: int, attempts: int, tasks: int) -> None:
    """Writes the frames, a few runs of every researcher at a time."""
    people = [
        MadeResearcher(f"researcher-{k}", skill=0.02 * k, drift=0.005 * (k % 3), attempts=attempts)
        for k in range(RESEARCHERS)
    ]
    seeds = runs // RESEARCHERS

    parts = (
        _renumbered(made_frames(people, seeds=_AT_ONCE, tasks=tasks, seed=start), start)
        for start in range(0, seeds, _AT_ONCE)
    )
    write_frames(parts, folder)


def _renumbered(part: Frames, start: int) -> Frames:
    """Run names that differ from those of the other parts."""
    return Frames(*(table.with_columns(run_id=table["run_id"] + f"-{start}") for table in part))


def report(folder: Path, out: Path) -> None:
    """The measured process: everything that `rsibench report all --frames` does."""
    began = time.perf_counter()
    tables = frames_for_findings(read_frames(folder))
    for table in tables:
        table.hash_rows()
    plain = time.perf_counter() - began
    started = time.perf_counter()
    found = findings(tables, "scale")
    middle = time.perf_counter()
    write_findings(found, out)
    ended = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIBIBYTES / _MEBIBYTES
    total = ended - started
    print("| runs | trials | read and hash every row | findings | page, JSON, CSV | report | to the read | peak |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    print(
        f"| {tables.runs.height:,} | {tables.trials.height:,} | {plain:.1f} s | {middle - started:.1f} s "
        f"| {ended - middle:.1f} s | {total + plain:.1f} s | {(total + plain) / plain:.1f}x | {peak:,.0f} MiB |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--attempts", type=int, default=8)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--measure", type=Path, default=None)
    asked = parser.parse_args()
    if asked.measure is not None:
        report(asked.measure / "frames", asked.measure / "out")
        return
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder) / "frames", asked.runs, asked.attempts, asked.tasks)
        subprocess.run([sys.executable, __file__, "--measure", folder], check=True)


if __name__ == "__main__":
    main()
