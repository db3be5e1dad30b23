"""`rsibench serve`: the pages of runs, live, for a browser."""

from __future__ import annotations

from rsibench.cli.here import here
from rsibench.cli.output import console
from rsibench.cli.stoppable import stoppable
from rsibench.serve.library import Library
from rsibench.serve.server import PageServer

DEFAULT_PORT = 8750


def serve(*, host: str = "127.0.0.1", port: int = DEFAULT_PORT) -> int:
    """Show runs in a browser while they go on. It only reads; stop it with Ctrl-C.

    Parameters
    ----------
    host
        The address to listen on. Any but loopback asks for a token, which is part of the address that is printed.
    port
        The port; 0 takes a free one.
    """
    with stoppable(), PageServer(Library(here()), host, port) as server:
        console().print(f"pages: {server.address}", markup=False, soft_wrap=True)
        try:
            server.wait()
        except KeyboardInterrupt:
            return 0
    return 0
