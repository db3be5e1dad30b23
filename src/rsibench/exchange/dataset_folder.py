"""Runs as a dataset folder in the style of the Hugging Face hub: Parquet in `data/`, and a card that describes it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import yaml

from rsibench.analysis.frames.folder import write_frames
from rsibench.analysis.frames.schema import TABLES, VERSION, Frames
from rsibench.errors import EnvironmentFault, SpecError
from rsibench.version import __version__

_CARD = """
# RSIBench-Data runs

{runs} runs of RSIBench-Data, written by version {program}. Tables (version {version} of their columns): `runs` (one row
a run), `attempts`, `trials` (one row a decode; no texts and no expected answers), `costs`. Shares are from 0 to 1,
money is in dollars, times are in seconds.

Only rows with the same `protocol_digest` may be compared. A score without its coverage, its interval and the nulls that
`rsibench report` prints says little; a trial whose `counts` is false is broken infrastructure and not a wrong answer.
"""


def write_dataset(parts: Iterable[Frames], folder: Path) -> int:
    """Writes a new dataset folder, returns the number of runs. Raises SpecError when the folder exists."""
    if folder.exists():
        raise SpecError("it exists already", where=str(folder), fix="name a new folder, or remove this one")
    runs = write_frames(parts, folder)
    try:
        (folder / "data").mkdir()
        for name in TABLES:
            shutil.move(folder / name, folder / "data" / name)
        (folder / "frames.json").unlink()
        configs = [
            {"config_name": name, "data_files": [{"split": "train", "path": f"data/{name}/*.parquet"}]}
            | ({"default": True} if name == "runs" else {})
            for name in TABLES
        ]
        head = {"license": "cc-by-4.0", "tags": ["rsibench-data"], "configs": configs}
        text = f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n"
        card = _CARD.format(runs=runs, program=__version__, version=VERSION)
        (folder / "README.md").write_text(text + card, encoding="utf-8")
    except OSError as error:
        fix = "choose a folder that can be written and has space"
        raise EnvironmentFault(f"cannot be written: {error.strerror}", where=str(folder), fix=fix) from error
    return runs
