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

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore

from rsibench.errors import EnvironmentFault, IntegrityError
from rsibench.ids import sha256_bytes, sha256_file

_SHA256 = re.compile(r"[0-9a-f]{64}")
_PIECE_BYTES = 1 << 20
_READ_ONLY = 0o444
_CHANGED = "the file was changed or replaced after it was stored; restore it from a copy"


class Blobs:
    """A folder of blobs. Safe to use from several threads and processes at once."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        with self._translated():
            self._root.mkdir(parents=True, exist_ok=True)
            self._files = LocalStore(prefix=self._root)

    def put(self, data: bytes) -> str:
        """Stores `data`, returns its SHA-256; storing the same content again does nothing."""
        digest = sha256_bytes(data)
        if self.has(digest):
            return digest
        with self._translated():
            try:
                obstore.put(self._files, _name(digest), data, mode="create", use_multipart=False)
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
                while piece := source.read(_PIECE_BYTES):
                    hashed.update(piece)
                    target.write(piece)
            digest = hashed.hexdigest()
            try:
                obstore.rename(self._files, incoming, _name(digest), overwrite=False)
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
            raise _changed(sha256, path)
        return data

    def checked_path(self, sha256: str) -> Path:
        """The file of a blob after its content was hashed again, for blobs too large to hold in memory."""
        path = self.path(sha256)
        with self._translated():
            found = sha256_file(path)
        if found != sha256:
            raise _changed(sha256, path)
        return path

    def path(self, sha256: str) -> Path:
        """The file of a blob, not hashed again. Raises IntegrityError when there is no such blob."""
        path = self._root / _name(sha256)
        if not path.is_file():
            raise IntegrityError("it is missing", where=f"blob {sha256} at {path}", fix="restore it from a copy")
        return path

    def has(self, sha256: str) -> bool:
        """Whether a blob of that name is stored. Says nothing about its content."""
        return (self._root / _name(sha256)).is_file()

    def _finish(self, digest: str) -> None:
        """Makes a new blob read only and durable: its bytes, its name, and the name of its folder."""
        path = self._root / _name(digest)
        path.chmod(_READ_ONLY)
        for item in (path, path.parent, self._root):
            _sync(item)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, BaseError) as error:
            where = f"blobs in {self._root}"
            fix = "check that the folder can be written and has space"
            raise EnvironmentFault(f"cannot be read or written: {error}", where=where, fix=fix) from error


def _name(sha256: str) -> str:
    if _SHA256.fullmatch(sha256) is None:
        fix = "name a blob by 64 lowercase hexadecimal digits"
        raise IntegrityError("is not the name of a blob", where=f"blob {sha256!r}", fix=fix)
    return f"{sha256[:2]}/{sha256[2:]}"


def _changed(sha256: str, path: Path) -> IntegrityError:
    return IntegrityError("its content does not hash to its name", where=f"blob {sha256} at {path}", fix=_CHANGED)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
