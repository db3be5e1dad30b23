"""Blobs in a bucket, against a real S3 server on loopback: the same promises as in a folder, and shared by machines."""

from __future__ import annotations

import hashlib
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import obstore
import pytest
from obstore.store import S3Store

from rsibench.errors import EnvironmentFault, IntegrityError
from rsibench.store.blobs import Blobs

BUCKET = "bench"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """An S3 server with one bucket."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    _ask("PUT", f"{url}/{BUCKET}")
    yield url
    server.stop()


@pytest.fixture
def place(endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A prefix in the bucket, reachable through the environment as a user would set it."""
    values = {"ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret", "REGION": "us-east-1", "ALLOW_HTTP": "true"}
    for name, value in {**values, "ENDPOINT_URL": endpoint}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    return f"s3://{BUCKET}/{tmp_path.name}"


@pytest.fixture
def blobs(place: str, tmp_path: Path) -> Blobs:
    """The blobs of one machine."""
    return Blobs.open(place, cache=tmp_path / "here")


def _ask(method: str, url: str) -> str:
    request = urllib.request.Request(url, method=method)  # noqa: S310 - loopback
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - loopback
        text: str = answer.read().decode()
    return text


def _overwrite(place: str, sha256: str, content: bytes) -> None:
    obstore.put(S3Store.from_url(place), f"{sha256[:2]}/{sha256[2:]}", content)


def test_what_one_machine_stores_another_reads(blobs: Blobs, place: str, tmp_path: Path) -> None:
    other = Blobs.open(place, cache=tmp_path / "there")
    name = blobs.put(b"shared")
    assert name == hashlib.sha256(b"shared").hexdigest()
    assert (other.has(name), other.get(name), other.checked_path(name).read_bytes()) == (True, b"shared", b"shared")
    assert other.put(b"shared") == name


def test_a_large_file_is_streamed_and_leaves_nothing_else_behind(
    blobs: Blobs, place: str, endpoint: str, tmp_path: Path
) -> None:
    large = tmp_path / "large"
    large.write_bytes(b"0123456789abcdef" * 1_500_000)
    name = blobs.put_file(large)
    assert name == hashlib.sha256(large.read_bytes()).hexdigest()
    assert blobs.put_file(large) == name
    there = Blobs.open(place, cache=tmp_path / "there")
    assert there.path(name).read_bytes() == large.read_bytes()
    prefix = place.split("/", 3)[3]
    listing = _ask("GET", f"{endpoint}/{BUCKET}?list-type=2&prefix={prefix}/")
    assert listing.count("<Key>") == 1
    assert not list((tmp_path / "there" / "incoming").iterdir())


def test_an_empty_blob_comes_back(blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    name = blobs.put_file(tmp_path / "empty")
    assert (blobs.get(name), blobs.put(b"")) == (b"", name)


def test_a_blob_that_was_changed_in_the_bucket_is_never_handed_out(blobs: Blobs, place: str) -> None:
    name = blobs.put(b"as it was")
    _overwrite(place, name, b"as it is not")
    for read in (blobs.get, blobs.path, blobs.checked_path):
        with pytest.raises(IntegrityError, match="does not hash to its name"):
            read(name)


def test_a_copy_that_was_changed_here_is_found(blobs: Blobs) -> None:
    name = blobs.put(b"content")
    copy = blobs.path(name)
    copy.chmod(0o644)
    copy.write_bytes(b"other")
    with pytest.raises(IntegrityError, match="does not hash to its name"):
        blobs.checked_path(name)


def test_a_missing_blob_is_named(blobs: Blobs) -> None:
    name = hashlib.sha256(b"never stored").hexdigest()
    assert not blobs.has(name)
    for read in (blobs.get, blobs.path, blobs.checked_path):
        with pytest.raises(IntegrityError, match=f"{name}.*is missing"):
            read(name)
    with pytest.raises(IntegrityError, match="not the name of a blob"):
        blobs.get("../secret")


def test_a_bucket_that_is_not_there_is_reported(place: str, tmp_path: Path) -> None:
    assert place.startswith("s3://")
    nowhere = Blobs.open("s3://no-such-bucket/x", cache=tmp_path / "here")
    with pytest.raises(EnvironmentFault, match=r"blobs in s3://no-such-bucket/x.*AWS_ENDPOINT_URL"):
        nowhere.put(b"x")


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_a_folder_is_opened_by_path_and_by_url(form: str, tmp_path: Path) -> None:
    opened = Blobs.open(form.format(tmp_path / "with space").replace(" ", "%20" if "file" in form else " "))
    name = opened.put(b"x")
    assert Blobs(tmp_path / "with space").get(name) == b"x"


@pytest.mark.parametrize("place", ["s3://", "ftp://host/x", "file://host/x", "https://host/x"])
def test_other_places_are_refused(place: str) -> None:
    with pytest.raises(EnvironmentFault, match="s3://BUCKET/PREFIX"):
        Blobs.open(place)
