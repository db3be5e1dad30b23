"""A dataset folder: a card whose configurations point at Parquet that holds the runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import yaml

from rsibench.analysis.frames.schema import TABLES
from rsibench.errors import SpecError
from rsibench.exchange.dataset_folder import write_dataset
from rsibench.testing.made_frames import MadeResearcher, made_frames


def test_the_card_points_at_every_table(tmp_path: Path) -> None:
    made = made_frames([MadeResearcher("one")], seeds=3, tasks=10)
    assert write_dataset([made], tmp_path / "out") == 3
    text = (tmp_path / "out" / "README.md").read_text()
    head = yaml.safe_load(text.split("---")[1])
    assert [config["config_name"] for config in head["configs"]] == list(TABLES)
    for config, table in zip(head["configs"], made, strict=True):
        (files,) = config["data_files"]
        assert pl.read_parquet(tmp_path / "out" / files["path"]).height == table.height
    with pytest.raises(SpecError, match="exists already"):
        write_dataset([made], tmp_path / "out")
