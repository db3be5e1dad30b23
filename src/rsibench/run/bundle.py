"""Bundles: one run in one file, with everything that `verify` needs, for somebody else to check offline.

A bundle is a zip of a home that holds one run: its store and every blob that its events name. It says nothing that the
run's journal does not say; who trusts a result compares the journal's head with the one that was published.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from rsibench.errors import EnvironmentFault, IntegrityError, SpecError
from rsibench.ids import RUN_ID
from rsibench.run.archive import ArchivedRun, open_archived, open_store
from rsibench.run.home import Home
from rsibench.store.blobs import Blobs
from rsibench.store.copy_run import copy_run
from rsibench.store.dialect import sqlite_url
from rsibench.store.store import Store
from rsibench.version import __version__

VERSION = 1
SUFFIX = ".zip"
_MANIFEST = "bundle.json"
_STORE = "store.sqlite"
_BLOB = re.compile(r"blobs/([0-9a-f]{2})/([0-9a-f]{62})")
_SHA256 = re.compile(r'"([0-9a-f]{64})"')
_MOST_MANIFEST_BYTES = 10_000
_WHEN = (1980, 1, 1, 0, 0, 0)
_PIECE_BYTES = 1 << 20


class Manifest(NamedTuple):
    """What a bundle says of itself; the journal inside is what counts."""

    run_id: str
    journal_head: str


def write_bundle(home: Home, run_id: str, path: Path) -> Manifest:
    """Writes a run's bundle, whole or not at all. Raises SpecError when the run or the file's place is not usable."""
    if path.exists():
        raise SpecError("it exists already", where=str(path), fix="name a new file, or remove this one")
    with open_archived(home, run_id) as archived, open_store(home) as store, _folder() as folder:
        copied = folder / _STORE
        with closing(Store.open(sqlite_url(copied))) as target:
            copy_run(store, target, run_id)
        head = archived.journal.head()
        manifest = Manifest(run_id, f"{head.seq}:{head.hash}")
        partial = path.with_name(f".{path.name}.partial")
        try:
            with zipfile.ZipFile(partial, "w") as archive:
                told = {"version": VERSION, "program": __version__, **manifest._asdict()}
                _add_bytes(archive, _MANIFEST, (json.dumps(told, indent=1) + "\n").encode())
                _add_file(archive, _STORE, copied, zipfile.ZIP_DEFLATED)
                for blob in sorted(_blobs(archived)):
                    _add_file(archive, f"blobs/{blob[:2]}/{blob[2:]}", archived.blobs.checked_path(blob))
            partial.replace(path)
        except OSError as error:
            fix = "choose a place that can be written and has space"
            raise EnvironmentFault(f"cannot be written: {error.strerror}", where=str(path), fix=fix) from error
        finally:
            partial.unlink(missing_ok=True)
    return manifest


@contextmanager
def opened_bundle(path: Path) -> Iterator[tuple[Home, Manifest]]:
    """A bundle as a home of its own, for as long as the block runs.

    Raises SpecError for a file that is no bundle or holds anything that a bundle does not hold, and EnvironmentFault
    when it does not fit on the disk. Nothing in it is trusted: `verify` still has to be asked.
    """
    with _folder() as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                manifest = _manifest(archive, path)
                _require_room(archive, folder, path)
                for info in archive.infolist():
                    _take_out(archive, info, folder, path)
        except (OSError, zipfile.BadZipFile, EOFError) as error:
            fix = "name a file that `rsibench export --to bundle` wrote"
            raise SpecError(f"it is no bundle: {error}", where=str(path), fix=fix) from error
        yield Home(folder), manifest


def import_bundle(path: Path, home: Home) -> Manifest:
    """Adds a bundle's run to a home, so that reports and tables include it. Raises SpecError when the name is taken."""
    with opened_bundle(path) as (bundle, manifest):
        home.root.mkdir(parents=True, exist_ok=True)
        with open_store(bundle) as source, closing(Store.open(home.store_url)) as target:
            blobs = Blobs(home.blobs)
            for file in sorted(bundle.blobs.glob("??/*")):
                digest = file.parent.name + file.name
                if blobs.put_file(file) != digest:
                    where = f"{path}, blob {digest}"
                    raise IntegrityError("its content does not hash to its name", where=where, fix="get the file again")
            copy_run(source, target, manifest.run_id)
    return manifest


def _blobs(run: ArchivedRun) -> set[str]:
    """Every blob that the run's events name."""
    named = {match for row in run.journal.rows() for match in _SHA256.findall(row.body.decode(errors="replace"))}
    return {digest for digest in named if run.blobs.has(digest)}


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    try:
        with archive.open(_MANIFEST) as file:
            told = json.loads(file.read(_MOST_MANIFEST_BYTES))
        version, run_id, head = told["version"], str(told["run_id"]), str(told["journal_head"])
    except (KeyError, TypeError, ValueError) as error:
        fix = "name a file that `rsibench export --to bundle` wrote"
        raise SpecError(f"it has no readable {_MANIFEST}", where=str(path), fix=fix) from error
    if version != VERSION:
        fix = "use the version of the program that wrote it"
        raise SpecError(f"bundles of version {version!r} cannot be read", where=str(path), fix=fix)
    if not RUN_ID.fullmatch(run_id):
        raise SpecError(f"{run_id!r} cannot be the name of a run", where=str(path), fix="get the file again")
    return Manifest(run_id, head)


def _require_room(archive: zipfile.ZipFile, folder: Path, path: Path) -> None:
    needed, free = sum(info.file_size for info in archive.infolist()), shutil.disk_usage(folder).free
    if needed > free:
        what = f"it needs {needed:,} bytes, {free:,} are free in {folder.parent}"
        raise EnvironmentFault(what, where=str(path), fix="make room there, or set TMPDIR to another folder")


def _take_out(archive: zipfile.ZipFile, info: zipfile.ZipInfo, folder: Path, path: Path) -> None:
    """Writes one member under a name that is built here, never under the one that the file gives."""
    blob = _BLOB.fullmatch(info.filename)
    if info.filename == _MANIFEST:
        return
    if blob is None and info.filename != _STORE:
        raise SpecError(f"it holds {info.filename!r}, which no bundle does", where=str(path), fix="get the file again")
    target = folder / _STORE if blob is None else folder / "blobs" / blob[1] / blob[2]
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        raise SpecError(f"it holds {info.filename!r} twice", where=str(path), fix="get the file again")
    with archive.open(info) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink, _PIECE_BYTES)


def _add_bytes(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _WHEN), data)


def _add_file(archive: zipfile.ZipFile, name: str, file: Path, method: int = zipfile.ZIP_STORED) -> None:
    info = zipfile.ZipInfo(name, _WHEN)
    info.compress_type = method
    with file.open("rb") as source, archive.open(info, "w", force_zip64=True) as sink:
        shutil.copyfileobj(source, sink, _PIECE_BYTES)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rsibench-bundle-") as folder:
        yield Path(folder)
