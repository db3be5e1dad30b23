"""Serves a Session over HTTP in a thread of its own, on a Unix socket or on a loopback TCP port.

Invariants: only the user who runs the controller can open the socket; a socket file that a dead controller left is
replaced, one of a living controller never; after `stop` nobody waits and the file is gone.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn

from rsibench.errors import EnvironmentFault
from rsibench.lab.http.app import make_app
from rsibench.lab.session import Session

_SOCKET_MODE = 0o600
_FOLDER_MODE = 0o700
_MOST_PATH_BYTES = 107 if sys.platform == "linux" else 103
_BACKLOG = 128
_START_SECONDS = 30.0
_STOP_SECONDS = 10.0
# A thread that gates a submission holds the interpreter for this long when another one wants to answer; a status
# request would feel Python's own 5 ms several times over.
_SWITCH_SECONDS = 0.001
_LOOPBACK = "127.0.0.1"


class LabServer:
    """A running lab. `address` is what clients are given: the socket's path, or `http://127.0.0.1:PORT`."""

    def __init__(self, session: Session, listener: socket.socket, address: str, socket_path: Path | None) -> None:
        self.address = address
        self._session = session
        self._listener = listener
        self._socket_path = socket_path
        self._app = make_app(session)
        self._switch_seconds = sys.getswitchinterval()
        self._server = _Server(
            uvicorn.Config(
                self._app.asgi,
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=int(_STOP_SECONDS / 2),
            )
        )
        self._thread = threading.Thread(target=self._run, name="lab-http", daemon=True)

    @classmethod
    def on_socket(cls, session: Session, path: Path) -> Self:
        """Starts on a Unix socket at `path`. Raises EnvironmentFault when the path cannot be used."""
        return cls(session, _unix_listener(path), str(path), path)._started()

    @classmethod
    def on_loopback(cls, session: Session, port: int = 0) -> Self:
        """Starts on 127.0.0.1, for unisolated use: any user of this machine can connect. Port 0 takes a free one."""
        listener = _tcp_listener(port)
        return cls(session, listener, f"http://{_LOOPBACK}:{listener.getsockname()[1]}", None)._started()

    def stop(self) -> None:
        """Stops the Session's waiting requests, then the server, and removes the socket. Again does nothing."""
        self._session.stop()
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)
        self._app.routes.close()
        self._listener.close()
        sys.setswitchinterval(self._switch_seconds)
        if self._socket_path is not None:
            self._socket_path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _started(self) -> Self:
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._thread.start()
        if not self._server.ready.wait(_START_SECONDS) or not self._server.started:
            self.stop()
            raise EnvironmentFault("the lab's server did not start", where=self.address, fix="see the controller's log")
        return self

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._listener])
        finally:
            self._server.ready.set()


class _Server(uvicorn.Server):
    """Tells when it serves, so that nobody has to poll."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.ready.set()


def _unix_listener(path: Path) -> socket.socket:
    where, length = str(path), len(os.fsencode(path))
    if length > _MOST_PATH_BYTES:
        raise EnvironmentFault(
            f"the socket's path has {length} bytes; this system takes at most {_MOST_PATH_BYTES}",
            where=where,
            fix="keep runs in a folder with a shorter path",
        )
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        _remove_stale(path)
        listener.bind(where)
        path.chmod(_SOCKET_MODE)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        fix = "choose another path, or correct the folder's permissions"
        raise EnvironmentFault(f"the socket cannot be made: {error.strerror}", where=where, fix=fix) from error
    except EnvironmentFault:
        listener.close()
        raise
    return listener


def _remove_stale(path: Path) -> None:
    """Removes a socket that nobody listens on. Raises EnvironmentFault when somebody does, or when it is no socket."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise EnvironmentFault("it exists and is not a socket", where=str(path), fix="remove it or choose another")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()
                return
        raise EnvironmentFault(
            "another controller serves a lab there", where=str(path), fix="stop it, or give this run another name"
        )


def _tcp_listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_LOOPBACK, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        where = f"{_LOOPBACK}:{port}"
        raise EnvironmentFault(
            f"the port cannot be used: {error.strerror}", where=where, fix="choose another"
        ) from error
    return listener
