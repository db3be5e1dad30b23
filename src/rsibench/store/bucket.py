"""Blobs in a bucket that several machines share, with a folder of copies for those that are needed as files.

Invariant: the same as for a folder of blobs: what is read hashes to its name, and a blob whose name was returned is
whole in the bucket. A name is a hash, so that writing a blob twice is harmless and needs no lock. Not here: deletion;
what an interrupted upload leaves stays under `incoming/` and is never read.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import S3Store

from rsibench.errors import EnvironmentFault, IntegrityError
from rsibench.ids import sha256_bytes
from rsibench.store.blobs import PIECE_BYTES, Blobs, blob_name, cause_of, changed

_RETRY_SECONDS = 30
_RETRIES = 5


class BucketBlobs(Blobs):
    """The blobs under `place`, an `s3://BUCKET/PREFIX`; copies lie in `cache`, which may be emptied at any time."""

    def __init__(self, place: str, cache: Path) -> None:
        super().__init__(cache)
        self._place = place
        with self._reached():
            self._bucket = S3Store.from_url(
                place, retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_SECONDS)}
            )

    def put(self, data: bytes) -> str:
        """Uploads `data` unless it is there, returns its SHA-256."""
        digest = sha256_bytes(data)
        if not self.has(digest):
            with self._reached():
                obstore.put(self._bucket, blob_name(digest), data)
        return digest

    def put_file(self, path: Path) -> str:
        """Uploads a file piece by piece, returns its SHA-256. It gets its name only when all of it has arrived."""
        incoming = f"incoming/{uuid.uuid4().hex}"
        hashed = hashlib.sha256()
        with self._reached():
            with path.open("rb") as source, obstore.open_writer(self._bucket, incoming) as target:
                while piece := source.read(PIECE_BYTES):
                    hashed.update(piece)
                    target.write(piece)
            digest = hashed.hexdigest()
            if not self.has(digest):
                obstore.copy(self._bucket, incoming, blob_name(digest))
            obstore.delete(self._bucket, incoming)
        return digest

    def get(self, sha256: str) -> bytes:
        """A blob's content from the bucket, checked against its name."""
        with self._reached(sha256):
            data = bytes(obstore.get(self._bucket, blob_name(sha256)).bytes())
        if sha256_bytes(data) != sha256:
            raise changed(sha256, self._place)
        return data

    def path(self, sha256: str) -> Path:
        """A copy of the blob as a file, fetched and checked when there is none; not hashed again when there is."""
        if not super().has(sha256):
            self._fetch(sha256)
        return super().path(sha256)

    def has(self, sha256: str) -> bool:
        """Whether the bucket has a blob of that name. Says nothing about its content."""
        try:
            with self._reached(sha256):
                obstore.head(self._bucket, blob_name(sha256))
        except _Missing:
            return False
        return True

    def _fetch(self, sha256: str) -> None:
        with self._translated():
            part = self._root / "incoming" / uuid.uuid4().hex
            part.parent.mkdir(exist_ok=True)
        try:
            with self._reached(sha256), part.open("wb") as target:
                for piece in obstore.get(self._bucket, blob_name(sha256)):
                    target.write(piece)
            if super().put_file(part) != sha256:
                raise changed(sha256, self._place)
        finally:
            part.unlink(missing_ok=True)

    @contextmanager
    def _reached(self, sha256: str = "") -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, NotFoundError) as error:
            if not sha256:
                raise self._fault(error) from error
            raise _Missing(
                "it is missing", where=f"blob {sha256} in {self._place}", fix="restore it from a copy"
            ) from error
        except (OSError, BaseError) as error:
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> EnvironmentFault:
        fix = "check bucket, keys (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), AWS_REGION and AWS_ENDPOINT_URL"
        return EnvironmentFault(
            f"cannot be read or written: {cause_of(error)}", where=f"blobs in {self._place}", fix=fix
        )


class _Missing(IntegrityError):
    """There is no blob of that name in the bucket."""
