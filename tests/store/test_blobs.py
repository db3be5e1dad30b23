"""Blobs: named by their content, written once, checked when read."""

from __future__ import annotations

import hashlib
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsibench.errors import EnvironmentFault, IntegrityError
from rsibench.store.blobs import Blobs


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    """An empty folder of blobs."""
    return Blobs(tmp_path / "blobs")


def _replace(path: Path, content: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(content)


@settings(deadline=None)  # every blob is synced to disk
@given(contents=st.lists(st.binary(max_size=200), max_size=6))
def test_any_content_comes_back_under_its_own_hash(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]
) -> None:
    blobs = Blobs(tmp_path_factory.mktemp("blobs"))
    names = [blobs.put(content) for content in contents]
    assert names == [hashlib.sha256(content).hexdigest() for content in contents]
    assert [blobs.get(name) for name in names] == contents


def test_a_file_is_stored_like_its_bytes(blobs: Blobs, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(b"0123456789abcdef" * 1_000_000)
    name = blobs.put_file(large)
    assert name == hashlib.sha256(large.read_bytes()).hexdigest()
    assert blobs.get(name) == large.read_bytes()
    assert blobs.put(large.read_bytes()) == name


def test_storing_again_changes_nothing_and_leaves_nothing_behind(blobs: Blobs, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"twice")
    name = blobs.put(b"twice")
    before = blobs.path(name).stat()
    assert (blobs.put(b"twice"), blobs.put_file(source)) == (name, name)
    after = blobs.path(name).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    files = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    assert files == [blobs.path(name)]


def test_the_layout_is_two_digits_then_the_rest_and_read_only(blobs: Blobs, tmp_path: Path) -> None:
    name = blobs.put(b"layout")
    path = blobs.path(name)
    assert path == tmp_path / "blobs" / name[:2] / name[2:]
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


def test_changed_content_is_found_and_named(blobs: Blobs) -> None:
    name = blobs.put(b"evidence")
    _replace(blobs.path(name), b"Evidence")
    for read in (blobs.get, blobs.checked_path):
        with pytest.raises(IntegrityError, match=name):
            read(name)


def test_a_missing_blob_is_an_integrity_error(blobs: Blobs) -> None:
    missing = "0" * 64
    assert not blobs.has(missing)
    for read in (blobs.get, blobs.checked_path, blobs.path):
        with pytest.raises(IntegrityError, match="missing"):
            read(missing)


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n", "0" * 65])
def test_a_name_that_is_no_hash_never_reaches_the_file_system(blobs: Blobs, name: str) -> None:
    for call in (blobs.get, blobs.has, blobs.path, blobs.checked_path):
        with pytest.raises(IntegrityError, match="not the name of a blob"):
            call(name)


def test_threads_may_store_one_content_at_once(blobs: Blobs, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"shared" * 1000)
    names: list[str] = []
    writers = [threading.Thread(target=lambda: names.append(blobs.put(b"shared" * 1000))) for _ in range(4)]
    writers += [threading.Thread(target=lambda: names.append(blobs.put_file(source))) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(names) == len(writers)
    assert len(set(names)) == 1
    assert blobs.get(names[0]) == b"shared" * 1000


def test_a_folder_that_cannot_be_used_is_an_environment_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EnvironmentFault, match="blobs in"):
        Blobs(tmp_path / "file")


def test_a_source_that_cannot_be_read_is_an_environment_fault(blobs: Blobs, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="no-such-file"):
        blobs.put_file(tmp_path / "no-such-file")
