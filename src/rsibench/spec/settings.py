"""The only place that reads environment variables: where runs and caches live, what a researcher may inherit, keys."""

from __future__ import annotations

import os
from pathlib import Path

_HOME_VARIABLE = "RSIBENCH_HOME"
_CACHE_VARIABLE = "RSIBENCH_CACHE"
_STORE_VARIABLE = "RSIBENCH_STORE"
_CONTAINER_VARIABLES = ("HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH")
_HARMLESS_VARIABLES = ("HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV")


def runs_home() -> Path:
    """The folder of all runs: $RSIBENCH_HOME, or `runs` in the current folder."""
    return Path(os.environ.get(_HOME_VARIABLE) or "runs").resolve()


def store_url() -> str | None:
    """The database of all runs: $RSIBENCH_STORE; None for the file in the home folder."""
    return os.environ.get(_STORE_VARIABLE) or None


def cache_folder() -> Path:
    """Where students are kept: $RSIBENCH_CACHE, or `rsibench` in the user's cache folder."""
    given = os.environ.get(_CACHE_VARIABLE)
    if given:
        return Path(given).resolve()
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "rsibench"


def harmless_environment() -> dict[str, str]:
    """Variables that a researcher's process may inherit; none of them is a secret."""
    return {name: os.environ[name] for name in _HARMLESS_VARIABLES if name in os.environ}


def container_environment() -> dict[str, str]:
    """Variables by which the docker command finds its daemon; they never go into a container."""
    return {name: os.environ[name] for name in _CONTAINER_VARIABLES if name in os.environ}


def secret(variable: str) -> str | None:
    """The value of the environment variable that a setting names as holding a key, None when it is unset or empty."""
    return os.environ.get(variable) or None


def tinker_key() -> str | None:
    """The key for a Tinker service, $RSIBENCH_TINKER_KEY; nothing is taken from the SDK's own variables or files."""
    return os.environ.get("RSIBENCH_TINKER_KEY") or None


def turn_off_tinker_telemetry() -> None:
    """Tells the Tinker SDK, which only reads the environment for it, to report nothing. Call before it connects."""
    os.environ["TINKER_TELEMETRY"] = "0"
