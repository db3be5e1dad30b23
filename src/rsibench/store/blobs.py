"""Blobs: files named by the SHA-256 of their content, written once and never changed.

Invariant: what `get` returns hashes to its name, and a blob whose name `put` has returned is whole and on disk. Not
here: what a blob is, and any deletion; what an interrupted `put_file` leaves stays under `incoming/` and is never read.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore

from rsibench.errors import EnvironmentFault, IntegrityError
from rsibench.ids import sha256_bytes, sha256_file
from rsibench.spec.settings import cache_folder

_SHA256 = re.compile(r"[0-9a-f]{64}")
PIECE_BYTES = 1 << 20
_CAUSE_CHARACTERS = 400
_READ_ONLY = 0o444
_CHANGED = "the file was changed or replaced after it was stored; restore it from a copy"


class Blobs:
    """A folder of blobs. Safe to use from several threads and processes at once."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._where = f"blobs in {self._root}"
        with self._translated():
            self._root.mkdir(parents=True, exist_ok=True)
            self._files = LocalStore(prefix=self._root)

    @staticmethod
    def open(place: str | Path, *, cache: Path | None = None) -> Blobs:
        """The blobs at `place`: a path, `file:///PATH`, or `s3://BUCKET/PREFIX`.

        Keys, region and endpoint of a bucket come from its usual AWS_* variables. `cache` is the folder for blobs of a
        bucket that are needed as files, by default one in the user's cache. Raises EnvironmentFault for another scheme.
        """
        parts = urlsplit(str(place))
        if isinstance(place, Path) or "://" not in place:
            return Blobs(Path(place))
        if parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path:
            return Blobs(Path(unquote(parts.path)))
        if parts.scheme == "s3" and parts.netloc:
            from rsibench.store.bucket import BucketBlobs  # noqa: PLC0415 - it is a kind of Blobs itself

            folder = cache or cache_folder() / "blobs" / sha256_bytes(place.encode())[:16]
            return BucketBlobs(place.rstrip("/"), folder)
        fix = "use a path, file:///PATH or s3://BUCKET/PREFIX"
        raise EnvironmentFault("is not a place for blobs", where=repr(place), fix=fix)

    def put(self, data: bytes) -> str:
        """Stores `data`, returns its SHA-256; storing the same content again does nothing."""
        digest = sha256_bytes(data)
        if self.has(digest):
            return digest
        with self._translated():
            try:
                obstore.put(self._files, blob_name(digest), data, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return digest
            self._finish(digest)
        return digest

    def put_file(self, path: Path) -> str:
        """Stores a file's content piece by piece, returns its SHA-256; EnvironmentFault when it cannot be read."""
        incoming = f"incoming/{uuid.uuid4().hex}"
        hashed = hashlib.sha256()
        with self._translated():
            with path.open("rb") as source, obstore.open_writer(self._files, incoming) as target:
                while piece := source.read(PIECE_BYTES):
                    hashed.update(piece)
                    target.write(piece)
            digest = hashed.hexdigest()
            try:
                obstore.rename(self._files, incoming, blob_name(digest), overwrite=False)
            except AlreadyExistsError:
                obstore.delete(self._files, incoming)
                return digest
            self._finish(digest)
        return digest

    def get(self, sha256: str) -> bytes:
        """A blob's content. Raises IntegrityError when it is missing or its content does not hash to its name."""
        path = self.path(sha256)
        with self._translated():
            data = path.read_bytes()
        if sha256_bytes(data) != sha256:
            raise changed(sha256, str(path))
        return data

    def checked_path(self, sha256: str) -> Path:
        """The file of a blob after its content was hashed again, for blobs too large to hold in memory."""
        path = self.path(sha256)
        with self._translated():
            found = sha256_file(path)
        if found != sha256:
            raise changed(sha256, str(path))
        return path

    def path(self, sha256: str) -> Path:
        """The file of a blob, not hashed again. Raises IntegrityError when there is no such blob."""
        path = self._root / blob_name(sha256)
        if not path.is_file():
            raise IntegrityError("it is missing", where=f"blob {sha256} at {path}", fix="restore it from a copy")
        return path

    def has(self, sha256: str) -> bool:
        """Whether a blob of that name is stored. Says nothing about its content."""
        return (self._root / blob_name(sha256)).is_file()

    def _finish(self, digest: str) -> None:
        """Makes a new blob read only and durable: its bytes, its name, and the name of its folder."""
        path = self._root / blob_name(digest)
        path.chmod(_READ_ONLY)
        for item in (path, path.parent, self._root):
            _sync(item)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, BaseError) as error:
            fix = "check that the folder can be written and has space"
            raise EnvironmentFault(
                f"cannot be read or written: {cause_of(error)}", where=self._where, fix=fix
            ) from error


def blob_name(sha256: str) -> str:
    """Where a blob lies under its root. Raises IntegrityError for what is not a SHA-256."""
    if _SHA256.fullmatch(sha256) is None:
        fix = "name a blob by 64 lowercase hexadecimal digits"
        raise IntegrityError("is not the name of a blob", where=f"blob {sha256!r}", fix=fix)
    return f"{sha256[:2]}/{sha256[2:]}"


def cause_of(error: Exception) -> str:
    """What an object store says, in one line and without the debugging text that it appends."""
    return " ".join(str(error).split("Debug source")[0].split())[:_CAUSE_CHARACTERS]


def changed(sha256: str, place: str) -> IntegrityError:
    """The error for a blob whose content is not what its name says."""
    return IntegrityError("its content does not hash to its name", where=f"blob {sha256} at {place}", fix=_CHANGED)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
