"""The home that commands work in: the folder and the database that the environment names."""

from __future__ import annotations

from rsibench.run.home import Home
from rsibench.spec.settings import runs_home, store_url


def here() -> Home:
    """$RSIBENCH_HOME with the database of $RSIBENCH_STORE, or the file in it."""
    return Home(runs_home(), store_url())
