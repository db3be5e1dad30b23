"""Serves the live pages: on loopback for whoever works here, elsewhere only with a token."""

from __future__ import annotations

import secrets
import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn

from rsibench.errors import EnvironmentFault, SpecError
from rsibench.serve.app import Door, make_app
from rsibench.serve.library import Library

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_START_SECONDS = 30.0
_STOP_SECONDS = 5.0
_MOST_PORT = 65_535


class PageServer:
    """A running server. `address` is what a person opens; it holds the token where one is asked for."""

    def __init__(self, library: Library, host: str = "127.0.0.1", port: int = 0) -> None:
        listener = _listener(host, port)
        outside = host not in _LOOPBACK
        token = secrets.token_urlsafe(24) if outside else None
        # Under a wildcard address the host name cannot be known; there the token is what keeps others out.
        door = Door(frozenset() if outside else _LOOPBACK, token)
        shown = socket.gethostname() if host in ("0.0.0.0", "::") else host  # noqa: S104 - compared, not bound
        place = f"http://{shown}:{listener.getsockname()[1]}/"
        self.address = place if token is None else f"{place}?token={token}"
        self._listener = listener
        self._ready = threading.Event()
        self._server = _Server(
            uvicorn.Config(
                make_app(library, door),
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=1,
            ),
            self._ready,
        )
        self._thread = threading.Thread(target=self._run, name="pages", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(_START_SECONDS) or not self._server.started:
            self.stop()
            raise EnvironmentFault("the pages' server did not start", where=self.address, fix="try another port")
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def wait(self) -> None:
        """Until the server ends by itself; an interruption gets through."""
        while self._thread.is_alive():
            self._thread.join(1.0)

    def stop(self) -> None:
        """Ends it; open pages lose their stream. Again does nothing."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)
        self._listener.close()

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._listener])
        finally:
            self._ready.set()


class _Server(uvicorn.Server):
    """Tells when it serves."""

    def __init__(self, config: uvicorn.Config, ready: threading.Event) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._ready.set()


def _listener(host: str, port: int) -> socket.socket:
    """A listening socket. Raises EnvironmentFault for an address or port that cannot be used."""
    if not 0 <= port <= _MOST_PORT:
        raise SpecError(f"{port} is no port", where="--port", fix=f"use 0 to {_MOST_PORT}")
    listener: socket.socket | None = None
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        if listener is not None:
            listener.close()
        where = f"{host}:{port}"
        raise EnvironmentFault(f"it cannot be served there: {error}", where=where, fix="choose another") from error
    return listener
