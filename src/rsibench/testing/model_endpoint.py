"""ModelEndpoint: a model provider on a loopback port that plays a script, for tests and demonstrations without a key.

It speaks Anthropic Messages, OpenAI Responses and OpenAI Chat Completions, whole or streamed, under any path prefix,
and can fail in the ways providers fail. What it was sent is kept for the test to look at. It is a real HTTP server in
threads of this process and talks to nobody.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from rsibench.testing.model_turns import Disturbance, Drop, Garbage, Hang, Json, Refuse, Script, Turn, by_position
from rsibench.testing.model_wires import MESSAGES, SentEvent, answer, asked, error_body, events, wire_of

COUNTED_TOKENS = 1_234
"""What count_tokens always answers."""
_OK = Turn(text="ok")


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request as it arrived; header names are lowercase. `body` is empty for a request without one."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Json


class ModelEndpoint:
    """A running endpoint. `url` has no trailing slash; requests go to `url` + `/v1/...` with any prefix between.

    `disturbances` are used up one a request, before the script is asked; None lets a request through. With `key`, any
    other credential is answered 401.
    """

    def __init__(
        self,
        script: Script | Sequence[Turn] = (_OK,),
        *,
        key: str | None = None,
        disturbances: Iterable[Disturbance | None] = (),
        port: int = 0,
    ) -> None:
        self.script: Script = script if callable(script) else by_position(script)
        self.key = key
        self.stopping = threading.Event()
        self.hanging = threading.Event()
        """Set when a request has been left hanging."""
        self._lock = threading.Lock()
        self._requests: list[SeenRequest] = []
        self._disturbances = deque(disturbances)
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.endpoint = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def requests(self) -> tuple[SeenRequest, ...]:
        """Every request so far."""
        with self._lock:
            return tuple(self._requests)

    @property
    def calls(self) -> tuple[SeenRequest, ...]:
        """The requests that asked the model for an answer."""
        return tuple(one for one in self.requests if one.method == "POST" and wire_of(one.path.partition("?")[0]))

    def disturb(self, *disturbances: Disturbance | None) -> None:
        """Adds disturbances for the next requests."""
        with self._lock:
            self._disturbances.extend(disturbances)

    def seen(self, request: SeenRequest) -> None:
        """Notes a request."""
        with self._lock:
            self._requests.append(request)

    def next_disturbance(self) -> Disturbance | None:
        """What the next request suffers."""
        with self._lock:
            return self._disturbances.popleft() if self._disturbances else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    endpoint: ModelEndpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        """Lists of models and whatever else a client looks up."""
        self.server.endpoint.seen(SeenRequest(self.command, self.path, self._lowercase(), {}))
        self._json(200, {"object": "list", "data": [], "models": []})

    def do_HEAD(self) -> None:
        """Like GET, without the body."""
        self.do_GET()

    def do_POST(self) -> None:
        """A call of the model."""
        endpoint = self.server.endpoint
        raw = self._body()
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        body: Json = json.loads(raw or b"{}")
        path = self.path.partition("?")[0]
        endpoint.seen(SeenRequest("POST", self.path, self._lowercase(), body))
        wire = wire_of(path)
        if endpoint.key is not None and self._credential() != endpoint.key:
            self._json(401, error_body(wire, "authentication_error", f"invalid key {self._credential()}"))
            return
        if path.endswith("/count_tokens"):
            self._json(200, {"input_tokens": COUNTED_TOKENS})
            return
        if wire is None:
            self._json(404, error_body(MESSAGES, "not_found_error", "no such path"))
            return
        disturbance = endpoint.next_disturbance()
        if not self._disturbed(wire, disturbance):
            self._answer(wire, body, disturbance)

    def _answer(self, wire: str, body: Json, disturbance: Disturbance | None) -> None:
        ask = asked(wire, body)
        turn = self.server.endpoint.script(ask)
        if not body.get("stream"):
            self._json(200, answer(wire, ask, turn))
            return
        limit = disturbance.events if isinstance(disturbance, Drop | Hang) else None
        if self._stream(events(wire, ask, turn), limit):
            return
        if isinstance(disturbance, Hang):
            self._hang()
        self._break()

    def _disturbed(self, wire: str, disturbance: Disturbance | None) -> bool:
        """Answers a request that is disturbed from its start; False when it must still be answered."""
        if isinstance(disturbance, Refuse):
            extra = error_body(wire, disturbance.kind, disturbance.message)
            self._json(disturbance.status, extra, disturbance.headers)
        elif isinstance(disturbance, Garbage):
            self._send(200, disturbance.data, {"content-type": disturbance.content_type})
        elif isinstance(disturbance, Hang) and disturbance.events == 0:
            self._hang()
            self._break()
        elif isinstance(disturbance, Drop) and disturbance.events == 0:
            self._break()
        else:
            return False
        return True

    def _stream(self, sent: Iterator[SentEvent], limit: int | None) -> bool:
        """Sends events in chunks; False when it stopped at `limit`."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for place, event in enumerate(sent):
            if place == limit:
                return False
            data = event.encoded()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        return True

    def _hang(self) -> None:
        self.server.endpoint.hanging.set()
        self.server.endpoint.stopping.wait()

    def _break(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _json(self, status: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})

    def _send(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        whole = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def _credential(self) -> str:
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")

    def _lowercase(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}
