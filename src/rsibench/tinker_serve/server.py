"""A running server on the loopback interface, on a thread of its own."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn

from rsibench.errors import EnvironmentFault
from rsibench.ports.clock import Clock, SystemClock
from rsibench.tinker_serve.app import make_app
from rsibench.tinker_serve.served import ServedModel
from rsibench.tinker_serve.service import Service, Settings

_HOST = "127.0.0.1"
_START_SECONDS = 30.0
_STOP_SECONDS = 2


class TinkerServer:
    """Serves while its block runs. `port` 0 takes a free one."""

    def __init__(
        self,
        models: tuple[ServedModel, ...],
        settings: Settings,
        api_key: str,
        port: int = 0,
        clock: Clock | None = None,
    ) -> None:
        self._service = Service(models, settings, clock or SystemClock())
        try:
            self._socket = socket.create_server((_HOST, port))
        except OSError as error:
            self._service.close()
            raise EnvironmentFault(
                f"port {port} cannot be used: {error.strerror}", where=_HOST, fix="choose another port"
            ) from error
        config = uvicorn.Config(
            make_app(self._service, api_key),
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_STOP_SECONDS,
        )
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._server.ready.wait(_START_SECONDS):
            raise EnvironmentFault("the server did not start", where=self.url)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self._service.close()

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"http://{_HOST}:{self._socket.getsockname()[1]}"

    def wait(self) -> None:
        """Returns when the server ends."""
        self._thread.join()


class _Server(uvicorn.Server):
    """Tells when it serves, so that nobody has to poll."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.ready.set()
