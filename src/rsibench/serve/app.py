"""The application: pages, live parts as server-sent events, and the door.

Invariants: it only reads; a request without the token is refused where one is asked for; a request for a host name that
is not this server's is refused, so that a page elsewhere cannot reach it; nothing is loaded from another host.
"""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from importlib import resources

import anyio
from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from rsibench.errors import IntegrityError, RsibenchError, SpecError
from rsibench.report.templating import asset
from rsibench.serve.library import Library

_COOKIE = "rsibench"
_TICK_SECONDS = 0.5
_MOST_STREAMS = 64
_KEEP_ALIVE_TICKS = 30
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_STATIC = {"/static/htmx.js": "htmx-2.0.11.min.js", "/static/sse.js": "htmx-ext-sse-2.2.4.min.js"}

type Next = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Door:
    """Who may come in: by which host names, and with which token; None asks for none."""

    hosts: frozenset[str]
    token: str | None


def make_app(library: Library, door: Door) -> Starlette:
    """The ASGI application."""
    pages = _Pages(library)
    routes = [
        Route("/", pages.index),
        Route("/stream", pages.index_stream),
        Route("/findings", pages.findings),
        Route("/runs/{run_id}", pages.run),
        Route("/runs/{run_id}/stream", pages.run_stream),
        Route("/static/style.css", _style),
        *(Route(path, _script) for path in _STATIC),
    ]

    async def guard(request: Request, call: Next) -> Response:
        return await _guarded(request, call, door)

    return Starlette(routes=routes, middleware=[Middleware(BaseHTTPMiddleware, dispatch=guard)])


class _Pages:
    def __init__(self, library: Library) -> None:
        self._library = library
        self._streams = 0

    async def index(self, request: Request) -> Response:  # noqa: ARG002 - the signature of a route
        return await _page(self._library.index_page)

    async def findings(self, request: Request) -> Response:  # noqa: ARG002 - the signature of a route
        found = await to_thread.run_sync(self._library.findings_page)
        return HTMLResponse(found, headers=_own_policy()) if found else _said("no run was started here yet", 404)

    async def run(self, request: Request) -> Response:
        """The full page of a finished run, the live page of another one."""
        run_id = request.path_params["run_id"]
        now = await to_thread.run_sync(self._library.glance, run_id)
        if now.sealed:
            return HTMLResponse(await to_thread.run_sync(self._library.sealed_page, run_id), headers=_own_policy())
        return await _page(lambda: self._library.live_page(now))

    async def index_stream(self, request: Request) -> Response:
        return self._stream(request, self._library.heads, lambda _: self._library.index_part())

    async def run_stream(self, request: Request) -> Response:
        run_id = request.path_params["run_id"]
        await to_thread.run_sync(self._library.glance, run_id)  # an unknown run is refused before a stream begins

        def part(_: object) -> str:
            return self._library.live_part(self._library.glance(run_id))

        return self._stream(request, lambda: self._library.heads().get(run_id), part)

    def _stream(self, request: Request, state: Callable[[], object], part: Callable[[object], str]) -> Response:
        """A stream that sends `part` at once, since much may have happened meanwhile, and at each change of `state`."""
        if self._streams >= _MOST_STREAMS:
            return _said("too many pages are open; close some", 503)
        self._streams += 1

        async def events() -> AsyncIterator[str]:
            try:
                last: object = events
                quiet = 0
                while not await request.is_disconnected():
                    now = await to_thread.run_sync(state)
                    quiet = 0 if now != last else quiet + 1
                    if now != last:
                        last = now
                        yield _event(await to_thread.run_sync(part, now))
                    elif quiet % _KEEP_ALIVE_TICKS == 0:
                        yield ": still here\n\n"
                    await anyio.sleep(_TICK_SECONDS)
            finally:
                self._streams -= 1

        return StreamingResponse(events(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


def _event(text: str) -> str:
    """One server-sent event named `changed`."""
    lines = "\n".join(f"data: {line}" for line in text.splitlines())
    return f"event: changed\n{lines}\n\n"


async def _page(make: Callable[[], str]) -> Response:
    return HTMLResponse(await to_thread.run_sync(make))


async def _style(request: Request) -> Response:  # noqa: ARG001 - the signature of a route
    return Response(str(asset("style.css", "published.css")), media_type="text/css")


async def _script(request: Request) -> Response:
    file = resources.files("rsibench") / "serve" / "static" / _STATIC[request.url.path]
    return Response(file.read_bytes(), media_type="text/javascript")


def _own_policy() -> dict[str, str]:
    """For self-contained pages, whose own policy names their style and script by hash; no frame may hold them."""
    return {"Content-Security-Policy": "frame-ancestors 'none'"}


async def _guarded(request: Request, call: Next, door: Door) -> Response:
    """Checks host, token and method, answers errors in words, and adds the headers that every answer has."""
    host = (request.headers.get("host") or "").rsplit(":", 1)[0]
    given = request.query_params.get("token") or request.cookies.get(_COOKIE) or ""
    if door.hosts and host not in door.hosts:
        response: Response = _said("requests for another host name are not served", 403)
    elif door.token is not None and not hmac.compare_digest(given.encode(), door.token.encode()):
        response = _said("the token is missing or wrong; open the address that `rsibench serve` printed", 401)
    elif door.token is not None and "token" in request.query_params:
        # The token leaves the address bar, so that it does not end in histories and screenshots.
        response = RedirectResponse(request.url.path, status_code=303)
        response.set_cookie(_COOKIE, door.token, httponly=True, samesite="strict")
    else:
        response = await _answered(request, call)
    for name, value in (
        ("Content-Security-Policy", _POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ):
        response.headers.setdefault(name, value)
    return response


async def _answered(request: Request, call: Next) -> Response:
    try:
        return await call(request)
    except SpecError as error:
        return _said(str(error), 404)
    except IntegrityError as error:
        return _said(f"{error}", 500)
    except RsibenchError as error:
        return _said(str(error), 503)


def _said(text: str, status: int) -> Response:
    return PlainTextResponse(text + "\n", status_code=status)
