"""A hub model, against the real hub library and a loopback server that speaks the few requests it makes.

No test reaches the real hub: what it answers today is not proven here.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault
from rsibench.spec.student import HubArtefact
from rsibench.student.hub import snapshot
from rsibench.testing.student import tiny_student

REPO = "somebody/tiny"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """Serves one repository at one commit."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = {path.name: path.read_bytes() for path in folder.iterdir()}

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        resolve = f"/{REPO}/resolve/{COMMIT}/"
        if path == f"/api/models/{REPO}/revision/{COMMIT}":
            names = [{"rfilename": name} for name in self.server.files]
            self._reply(json.dumps({"id": REPO, "sha": COMMIT, "siblings": names}).encode())
        elif path == f"/api/models/{REPO}/tree/{COMMIT}":
            tree = [
                {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha256(content).hexdigest()[:40]}
                for name, content in self.server.files.items()
            ]
            self._reply(json.dumps(tree).encode())
        elif path.startswith(resolve) and path.removeprefix(resolve) in self.server.files:
            self._reply(self.server.files[path.removeprefix(resolve)])
        else:
            self.send_error(404)

    do_HEAD = do_GET  # noqa: N815 - the name that the base class calls

    def _reply(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()[:40]}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    folder = tiny_student(tmp_path / "upstream")
    (folder / "pytorch_model.bin").write_bytes(b"never wanted")
    server = Hub(folder)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_snapshot_has_the_files_of_a_student_and_no_others(hub: Hub, tmp_path: Path) -> None:
    folder = snapshot(HubArtefact(repo=REPO, revision=COMMIT), tmp_path / "hub", hub.endpoint)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        name: content for name, content in hub.files.items() if name != "pytorch_model.bin"
    }


def test_a_model_that_is_not_there_is_an_environment_fault(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(
        EnvironmentFault, match=r"somebody/other at .* could not be fetched from the hub: .*name it as a folder"
    ):
        snapshot(HubArtefact(repo="somebody/other", revision=COMMIT), tmp_path / "hub", hub.endpoint)


def test_a_name_that_no_hub_has_is_an_environment_fault(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="at its default branch could not be fetched"):
        snapshot(HubArtefact(repo="a/b/c"), tmp_path / "hub", "http://127.0.0.1:9")
