"""The HTTP face over a real socket: statuses, the one error form, limits while reading, and who is kept out."""

from __future__ import annotations

import http.client
import json
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rsibench.errors import EnvironmentFault
from rsibench.lab.client import lab as client
from rsibench.lab.http.server import LabServer
from rsibench.ports.clock import SystemClock
from rsibench.testing.lab import DATA, LabBench, bench_files


@pytest.fixture
def served(tmp_path: Path) -> Iterator[LabBench]:
    """A bench that listens on `s/lab`."""
    with LabBench(tmp_path, clock=SystemClock()) as bench, LabServer.on_socket(bench.session, tmp_path / "s" / "lab"):
        yield bench


def connect(bench: LabBench) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("localhost", timeout=30)
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.sock.settimeout(30)
    connection.sock.connect(str(bench.folder / "s" / "lab"))
    return connection


def ask(bench: LabBench, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any]:
    connection = connect(bench)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body=body, headers=named)
    response = connection.getresponse()
    reply = json.loads(response.read())
    connection.close()
    return response.status, reply


def post(bench: LabBench, text: str, key: str = "k") -> tuple[int, Any]:
    files = bench_files(text)
    assert isinstance(files.rows, bytes)
    assert files.hypothesis is not None
    path = f"/v1/submissions?rows_bytes={len(files.rows)}&hypothesis_bytes={len(files.hypothesis)}"
    return ask(bench, "POST", path, files.rows + files.hypothesis, Idempotency_Key=key)


def test_a_whole_research_over_http(served: LabBench) -> None:
    status, admitted = post(served, "one")
    assert (status, admitted["attempt"], admitted["outcome"]) == (200, 1, "admitted")
    served.finish_next(5)
    status, waited = ask(served, "GET", "/v1/attempts/1/wait?timeout_seconds=30")
    assert (status, waited["finished"], waited["stage"]) == (200, True, "scored")
    status, told = ask(served, "GET", "/v1/attempts/1/feedback")
    assert (status, told["feedback"]["score"]["passed"]) == (200, 5)
    status, chosen = ask(
        served, "POST", "/v1/selection", b'{"attempt": 1, "final": true}', Content_Type="application/json"
    )
    assert (status, chosen["selection"]["committed"]) == (200, True)
    status, standing = ask(served, "GET", "/v1/status")
    assert (status, standing["phase"], len(standing["attempts"])) == (200, "committed", 1)


REFUSALS = [
    ("GET", "/v1/attempts/9/feedback", b"", 404, "no-such-attempt"),
    ("GET", "/v1/attempts/9/wait", b"", 404, "no-such-attempt"),
    ("GET", "/v1/attempts/x/wait", b"", 400, "bad-request"),
    ("GET", "/v1/attempts/-1/feedback", b"", 400, "bad-request"),
    ("GET", "/v1/attempts/1/wait?timeout_seconds=1e9", b"", 400, "bad-request"),
    ("GET", "/v1/attempts/1/wait?timeout_seconds=nan", b"", 400, "bad-request"),
    ("POST", "/v1/selection", b"{", 400, "bad-request"),
    ("POST", "/v1/selection", b'{"attempt": 1, "force": true}', 400, "bad-request"),
    ("POST", "/v1/selection", b'{"attempt": 7}', 404, "no-such-attempt"),
    ("POST", "/v1/rollouts", b"", 501, "not-available"),
    ("POST", "/v1/submissions", b"", 400, "bad-request"),
    ("POST", "/v1/submissions?rows_bytes=-1", b"", 400, "bad-request"),
    ("GET", "/v1/official", b"", 404, "no-such-path"),
    ("DELETE", "/v1/status", b"", 405, "no-such-method"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "code"), REFUSALS)
def test_every_refusal_has_one_form_and_tells_what_is_left(
    served: LabBench, method: str, path: str, body: bytes, status: int, code: str
) -> None:
    found, reply = ask(served, method, path, body, Content_Type="application/json", Idempotency_Key="k")
    assert (found, reply["error"]["code"]) == (status, code)
    assert reply["error"]["what"]
    assert reply["left"]["attempts"] == served.terms.budget.attempts


@pytest.mark.parametrize("declared", [{"rows_bytes": 5}, {"rows_bytes": 50}, {"rows_bytes": 5, "config_bytes": 2}])
def test_a_body_must_have_the_declared_length(served: LabBench, declared: dict[str, int]) -> None:
    query = "&".join(f"{name}={value}" for name, value in declared.items())
    status, reply = ask(served, "POST", f"/v1/submissions?{query}", b"123456789", Idempotency_Key="k")
    assert (status, reply["error"]["code"]) == (400, "body-length")
    assert not served.state().submissions


def test_a_declared_length_beyond_the_limit_is_refused_unread(served: LabBench) -> None:
    connection = connect(served)
    connection.putrequest("POST", f"/v1/submissions?rows_bytes={DATA.max_file_bytes + 1}")
    connection.putheader("Content-Length", str(10**12))
    connection.putheader("Idempotency-Key", "k")
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 422
    assert json.loads(response.read())["error"]["counts"] == {"file-too-large": 1}
    connection.close()


def test_an_endless_body_is_cut_off_at_what_it_declared(served: LabBench) -> None:
    connection = connect(served)
    connection.putrequest("POST", "/v1/submissions?rows_bytes=10")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.putheader("Idempotency-Key", "k")
    connection.endheaders()
    piece = b"x" * 65_536
    sent = 0
    try:
        while sent < 64 << 20:
            connection.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            sent += len(piece)
    except (BrokenPipeError, ConnectionResetError):
        pass
    connection.close()
    assert sent < 64 << 20
    assert not served.state().submissions


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Host": "localhost.evil.example"}]
)
def test_web_pages_are_kept_out(served: LabBench, headers: dict[str, str]) -> None:
    connection = connect(served)
    connection.request("GET", "/v1/status", headers=headers)
    response = connection.getresponse()
    assert response.status == 403
    assert json.loads(response.read())["error"]["code"] == "forbidden"
    connection.close()


def test_a_fault_of_the_controller_is_logged_in_full_and_told_in_general(
    served: LabBench, caplog: pytest.LogCaptureFixture
) -> None:
    post(served, "one")
    served.finish_next(3)
    blob = served.state().attempts[1].feedback_blob
    assert blob is not None
    path = served.blobs.path(blob)
    path.chmod(0o600)
    path.write_bytes(b"{}")
    status, reply = ask(served, "GET", "/v1/attempts/1/feedback")
    assert (status, reply["error"]["code"], reply["error"]["exit_code"]) == (500, "internal", 7)
    assert str(path) not in json.dumps(reply)
    assert str(path) in caplog.text


def test_status_answers_while_as_many_wait_as_may(served: LabBench) -> None:
    post(served, "one")
    replies: list[int] = []
    waiters = [
        threading.Thread(target=lambda: replies.append(ask(served, "GET", "/v1/attempts/1/wait?timeout_seconds=60")[0]))
        for _ in range(20)
    ]
    for waiter in waiters:
        waiter.start()
    assert ask(served, "GET", "/v1/status")[0] == 200
    served.finish_next(3)
    for waiter in waiters:
        waiter.join(30)
    assert replies == [200] * 20


def test_the_openapi_document_describes_every_route(served: LabBench) -> None:
    status, document = ask(served, "GET", "/openapi.json")
    assert status == 200
    assert set(document["paths"]) == {
        "/v1/status",
        "/v1/submissions",
        "/v1/attempts/{attempt}/wait",
        "/v1/attempts/{attempt}/feedback",
        "/v1/selection",
        "/v1/rollouts",
    }
    upload = document["paths"]["/v1/submissions"]["post"]
    assert "application/octet-stream" in upload["requestBody"]["content"]
    assert "ErrorReply" in json.dumps(upload["responses"]["422"])


def test_only_the_owner_may_open_the_socket(served: LabBench) -> None:
    path = served.folder / "s" / "lab"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_stopping_answers_who_waits_and_removes_the_socket(bench: LabBench) -> None:
    server = LabServer.on_socket(bench.session, bench.folder / "lab")
    bench.session.submit(bench_files("one"), "k")
    connection = client.UnixConnection(server.address, 30)
    connection.request("GET", "/v1/attempts/1/wait?timeout_seconds=60")
    replies: list[Any] = []
    waiter = threading.Thread(target=lambda: replies.append(json.loads(connection.getresponse().read())))
    waiter.start()
    server.stop()
    waiter.join(30)
    connection.close()
    assert not Path(server.address).exists()
    assert not replies or not replies[0]["finished"]
    server.stop()


def test_a_socket_that_a_dead_controller_left_is_replaced(bench: LabBench) -> None:
    path = bench.folder / "lab"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with LabServer.on_socket(bench.session, path) as server:
        assert client.Lab(server.address).ask("GET", "/status")["phase"] == "researching"


def test_a_living_controllers_socket_is_left_alone(bench: LabBench) -> None:
    path = bench.folder / "lab"
    with LabServer.on_socket(bench.session, path) as server:
        with pytest.raises(EnvironmentFault, match="another controller"):
            LabServer.on_socket(bench.session, path)
        assert client.Lab(server.address).ask("GET", "/status")["phase"] == "researching"


def test_a_file_in_the_sockets_place_is_left_alone(bench: LabBench) -> None:
    path = bench.folder / "lab"
    path.write_text("mine")
    with pytest.raises(EnvironmentFault, match="not a socket"):
        LabServer.on_socket(bench.session, path)
    assert path.read_text() == "mine"


def test_a_path_that_is_too_long_for_a_socket_says_so(bench: LabBench) -> None:
    with pytest.raises(EnvironmentFault, match="at most"):
        LabServer.on_socket(bench.session, bench.folder / ("x" * 100) / "lab")


def test_loopback_serves_the_same(bench: LabBench) -> None:
    with LabServer.on_loopback(bench.session) as server:
        assert server.address.startswith("http://127.0.0.1:")
        assert client.Lab(server.address).ask("GET", "/status")["phase"] == "researching"
