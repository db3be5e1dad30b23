"""Finding a renderer by name on a student's folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rsibench.errors import SpecError
from rsibench.rendering import load_renderer, renderer_names
from rsibench.testing.tokenizer import tiny_tokenizer


def test_every_listed_renderer_opens_under_its_name(tmp_path: Path) -> None:
    folder = tiny_tokenizer(tmp_path)
    assert [load_renderer(name, folder).name for name in renderer_names()] == renderer_names()


def test_an_unknown_name_is_met_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"no renderer 'chat-ml' .*did you mean chatml"):
        load_renderer("chat-ml", tmp_path)
    with pytest.raises(SpecError, match=r"no renderer 'zzz' .*known: chatml"):
        load_renderer("zzz", tmp_path)


def test_a_folder_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"tokenizer\.json: there is no such file"):
        load_renderer("chatml", tmp_path)


def test_a_broken_tokenizer_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(SpecError, match=r"tokenizer\.json: cannot be read as a tokenizer"):
        load_renderer("chatml", tmp_path)


def test_importing_rendering_loads_no_native_library() -> None:
    code = "import sys, rsibench.rendering; print(*{'tokenizers', 'torch', 'transformers', 'numpy'} & {*sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.split() == []
