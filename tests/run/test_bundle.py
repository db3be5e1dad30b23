"""Bundles: what was recorded here can be verified elsewhere, and a file that was tampered with cannot get in."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rsibench.errors import RsibenchError, SpecError
from rsibench.run.archive import open_archived, open_store, read_record
from rsibench.run.bundle import import_bundle, opened_bundle, write_bundle
from rsibench.run.execute import execute
from rsibench.run.home import Home
from rsibench.run.verify import Verification, verify
from rsibench.testing.runs import TinyRuns

RUN = "shared-run"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> TinyRuns:
    made = TinyRuns(tmp_path_factory.mktemp("bundled"))
    for name, researcher in ((RUN, "one-shot"), ("another", "no-op")):
        with made.open(made.plan(researcher, run_id=name)) as context:
            execute(context)
    return made


@pytest.fixture(scope="module")
def bundle(runs: TinyRuns, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("out") / "run.zip"
    write_bundle(runs.home, RUN, path)
    return path


def _verified(home: Home, run_id: str) -> Verification:
    with open_archived(home, run_id) as archived, open_store(home) as store:
        return verify(archived, store)


def _agrees(home: Home, run_id: str) -> bool:
    """Whether everything verifies; what cannot be read at all does not."""
    try:
        return _verified(home, run_id).ok
    except RsibenchError:
        return False


def _rewritten(bundle: Path, target: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]) -> Path:
    """A copy of the bundle with members changed, renamed or left out."""
    with zipfile.ZipFile(bundle) as source, zipfile.ZipFile(target, "w") as sink:
        for info in source.infolist():
            made = change(info.filename, source.read(info))
            if made is not None:
                sink.writestr(*made)
    return target


def test_a_bundle_verifies_by_itself_and_has_the_runs_head(runs: TinyRuns, bundle: Path) -> None:
    here = _verified(runs.home, RUN)
    with opened_bundle(bundle) as (home, manifest):
        there = _verified(home, manifest.run_id)
        assert there.ok
        assert there.head == here.head == manifest.journal_head
        with open_archived(home, RUN) as archived:
            record = read_record(archived)
    with open_archived(runs.home, RUN) as archived:
        assert read_record(archived).result == record.result


def test_it_holds_nothing_of_other_runs(runs: TinyRuns, bundle: Path) -> None:
    with opened_bundle(bundle) as (home, _):
        with pytest.raises(SpecError), open_archived(home, "another"):
            pass
        here = {file.parent.name + file.name for file in runs.home.blobs.glob("??/*")}
        there = {file.parent.name + file.name for file in home.blobs.glob("??/*")}
    assert there < here


def test_an_imported_run_is_like_one_of_ones_own(runs: TinyRuns, bundle: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "elsewhere")
    import_bundle(bundle, home)
    assert _verified(home, RUN).ok
    with pytest.raises(SpecError, match="of that name already"):
        import_bundle(bundle, home)
    assert _verified(home, RUN).ok


def test_a_run_on_a_shared_database_comes_out_and_in(tmp_path: Path, postgres_url: str, bundle: Path) -> None:
    shared = Home(tmp_path / "shared", postgres_url)
    import_bundle(bundle, shared)
    manifest = write_bundle(shared, RUN, tmp_path / "again.zip")
    with opened_bundle(tmp_path / "again.zip") as (home, again):
        assert again == manifest
        assert _verified(home, RUN).ok


@pytest.mark.parametrize("member", ["blobs/", "store.sqlite"])
def test_one_changed_byte_anywhere_is_found(bundle: Path, tmp_path: Path, member: str) -> None:
    with zipfile.ZipFile(bundle) as archive:
        names = [name for name in archive.namelist() if name.startswith(member)]
    found = 0
    for number, name in enumerate(names):

        def flip(found_name: str, data: bytes, wanted: str = name) -> tuple[str, bytes]:
            if found_name != wanted:
                return found_name, data
            place = data.find(b'"score"') if wanted == "store.sqlite" else len(data) // 2
            return found_name, data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

        changed = _rewritten(bundle, tmp_path / f"{number}.zip", flip)
        with opened_bundle(changed) as (home, manifest):
            found += not _agrees(home, manifest.run_id)
    assert found == len(names)


def test_a_missing_blob_is_found(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        first = next(name for name in archive.namelist() if name.startswith("blobs/"))
    cut = _rewritten(bundle, tmp_path / "cut.zip", lambda name, data: None if name == first else (name, data))
    with opened_bundle(cut) as (home, manifest):
        assert not _agrees(home, manifest.run_id)


@pytest.mark.parametrize("name", ["../outside", "/etc/x", "blobs/aa/../../../x", "store.sqlite.bak", "blobs/zz/00"])
def test_names_that_no_bundle_has_are_refused(bundle: Path, tmp_path: Path, name: str) -> None:
    planted = tmp_path / "planted.zip"
    planted.write_bytes(bundle.read_bytes())
    with zipfile.ZipFile(planted, "a") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(SpecError, match="which no bundle does"), opened_bundle(planted):
        pass


def test_other_files_are_refused_with_a_reason(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("not a zip")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass

    def later(name: str, data: bytes) -> tuple[str, bytes]:
        return name, json.dumps(json.loads(data) | {"version": 99}).encode() if name == "bundle.json" else data

    newer = _rewritten(bundle, tmp_path / "newer.zip", later)
    for path, says in (
        (tmp_path / "text.zip", "no bundle"),
        (tmp_path / "empty.zip", "no readable"),
        (newer, "version 99"),
    ):
        with pytest.raises(SpecError, match=says), opened_bundle(path):
            pass
    with pytest.raises(SpecError, match="no bundle"), opened_bundle(tmp_path / "nowhere.zip"):
        pass


def test_a_bundle_is_never_written_over(runs: TinyRuns, bundle: Path) -> None:
    before = bundle.read_bytes()
    with pytest.raises(SpecError, match="exists already"):
        write_bundle(runs.home, RUN, bundle)
    assert bundle.read_bytes() == before
