"""The outermost layer of the HTTP face: keeps browsers out and turns whatever escapes into an answer of our own.

A lab on a TCP port of this machine could be reached by a page in somebody's browser; such requests name an origin or a
foreign host. It is not authentication: who can open the socket may use the lab.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from rsibench.lab.http.errors import ErrorAnswers, ErrorBody

type Scope = MutableMapping[str, Any]
type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_HOSTS = (b"localhost", b"127.0.0.1")
_FORBIDDEN = ErrorBody(
    code="forbidden",
    what="requests from web pages and for other host names are not served",
    fix="use the lab command, or send `Host: localhost` and no Origin header",
    exit_code=2,
)


class Guard:
    """ASGI middleware."""

    def __init__(self, app: AsgiApp, answers: ErrorAnswers) -> None:
        self._app = app
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if b"origin" in headers or headers.get(b"host", b"").partition(b":")[0] not in _HOSTS:
            await self._answers.answer(403, _FORBIDDEN)(scope, receive, send)
            return
        try:
            await self._app(scope, receive, watched)
        except Exception as error:  # the last place to do so: the researcher gets an answer, the log the rest
            answer = self._answers.internal(error)
            if not started:
                await answer(scope, receive, send)
