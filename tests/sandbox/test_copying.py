"""Copies between the host's folders and a sandbox's: exact for files, blind for everything else."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rsibench.sandbox.warden.copying import Copying, make_mount_point, used_bytes

_MUCH = 1 << 20


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("source", "target"):
        (tmp_path / name).mkdir()
    return tmp_path / "source", tmp_path / "target"


def content(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


_NAMES = st.text(st.sampled_from("ab.\n é"), min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
_TREES = st.dictionaries(_NAMES, st.one_of(st.binary(max_size=50), st.dictionaries(_NAMES, st.binary(max_size=50))))


def write(root: Path, tree: dict[str, object]) -> None:
    root.mkdir(exist_ok=True)
    for name, value in tree.items():
        if isinstance(value, bytes):
            (root / name).write_bytes(value)
        elif isinstance(value, dict):
            write(root / name, value)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(source=_TREES, target=_TREES)
def test_a_mirror_is_equal(
    tmp_path_factory: pytest.TempPathFactory, source: dict[str, object], target: dict[str, object]
) -> None:
    root = tmp_path_factory.mktemp("trees")
    write(root / "source", source)
    write(root / "target", target)
    copying = Copying(_MUCH, mirror=True)
    copying.run(root / "source", root / "target")
    assert content(root / "target") == content(root / "source")
    assert copying.left_out == 0
    again = Copying(_MUCH, only_newer=True)
    again.run(root / "source", root / "target")
    assert again.copied_bytes == 0, "times are kept, so nothing is newer"


def test_links_and_special_files_are_left_out_and_counted(folders: tuple[Path, Path], tmp_path: Path) -> None:
    source, target = folders
    (tmp_path / "secret").write_text("secret", encoding="ascii")
    (source / "link").symlink_to(tmp_path / "secret")
    (source / "folder").symlink_to(tmp_path)
    os.mkfifo(source / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(source / "s"))
    copying = Copying(_MUCH)
    copying.run(source, target)
    assert (copying.left_out, list(target.iterdir())) == (4, [])


def test_nothing_is_written_through_links_in_the_target(folders: tuple[Path, Path], tmp_path: Path) -> None:
    source, target = folders
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("before", encoding="ascii")
    (target / "file").symlink_to(outside / "file")
    (target / "folder").symlink_to(outside)
    os.link(outside / "file", target / "second name")
    write(source, {"file": b"new", "second name": b"new", "folder": {"file": b"new"}})
    Copying(_MUCH).run(source, target)
    assert content(target) == content(source)
    assert (outside / "file").read_text("ascii") == "before"


def test_what_is_to_be_skipped_is_neither_copied_nor_removed(folders: tuple[Path, Path]) -> None:
    source, target = folders
    write(source, {"evidence": {"new": b""}, "rows": b"1"})
    write(target, {"evidence": {"old": b"kept"}, "seeds": {"kit.py": b"kept", "gone": b""}})
    Copying(_MUCH, skip=("evidence", "seeds/kit.py"), mirror=True).run(source, target)
    assert content(target) == {"evidence/old": b"kept", "seeds/kit.py": b"kept", "seeds/gone": b"", "rows": b"1"}


def test_the_limit_holds_for_holes_too(folders: tuple[Path, Path]) -> None:
    source, target = folders
    with (source / "a hole").open("wb") as file:
        file.truncate(1 << 40)
    (source / "b").write_bytes(b"x" * 600)
    (source / "c").write_bytes(b"x" * 600)
    copying = Copying(1000)
    copying.run(source, target)
    assert copying.left_out == 2
    assert content(target) == {"b": b"x" * 600}


def test_folders_beyond_every_depth_are_left_out(folders: tuple[Path, Path]) -> None:
    source, target = folders
    deep = source
    for _ in range(80):
        deep = deep / "d"
        deep.mkdir()
    (deep / "file").write_bytes(b"x")
    copying = Copying(_MUCH)
    copying.run(source, target)
    assert copying.left_out == 1
    assert content(target) == {}


@pytest.mark.parametrize("folder", [True, False])
def test_a_mount_point_takes_the_place_of_a_link(folders: tuple[Path, Path], tmp_path: Path, *, folder: bool) -> None:
    _, target = folders
    (tmp_path / "outside").mkdir()
    (target / "a").symlink_to(tmp_path / "outside")
    make_mount_point(target, "a/b", folder=folder, owner=None)
    found = target / "a" / "b"
    assert found.is_dir() if folder else found.is_file()
    assert not (target / "a").is_symlink()
    assert list((tmp_path / "outside").iterdir()) == []


def test_used_bytes_are_what_is_on_disk(folders: tuple[Path, Path]) -> None:
    source, _ = folders
    with (source / "hole").open("wb") as file:
        file.truncate(1 << 40)
    assert used_bytes(source) < 1 << 20
    (source / "full").write_bytes(b"x" * (1 << 20))
    assert used_bytes(source) >= 1 << 20
