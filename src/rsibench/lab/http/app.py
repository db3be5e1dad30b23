"""The FastAPI application over one Session. OpenAPI is at /openapi.json; there are no documentation pages to load."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from rsibench.errors import RsibenchError
from rsibench.lab.http.errors import ErrorAnswers
from rsibench.lab.http.guard import Guard
from rsibench.lab.http.routes import Routes
from rsibench.lab.session import Session
from rsibench.version import __version__


class LabApp(NamedTuple):
    """The ASGI application, and its routes for closing their threads."""

    asgi: FastAPI
    routes: Routes


def make_app(session: Session, spool: Path | None = None) -> LabApp:
    """The application. `spool` is a folder for uploads while they are read, the system's temporary one when None."""
    answers = ErrorAnswers(session)
    routes = Routes(session, session.terms.gate.data, spool)
    app = FastAPI(
        title="RSIBench-Data lab",
        version=__version__,
        description="What a researcher may ask of a run. Every answer, errors included, says what is left.",
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(routes.router())
    app.add_exception_handler(RsibenchError, answers.of_harness)
    app.add_exception_handler(RequestValidationError, answers.of_request)
    app.add_exception_handler(404, answers.of_path)
    app.add_exception_handler(405, answers.of_method)
    app.add_middleware(Guard, answers=answers)
    return LabApp(app, routes)
