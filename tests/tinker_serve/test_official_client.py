"""Runs the cases of the official client in a process of its own.

The client leaves sockets and threads to be collected at some later moment, which would be reported against whatever
test runs then. Each case is reported by name in the output when one fails.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tinker", reason="the extra `tinker` is not installed")
pytest.importorskip("torch", reason="the extra `local` is not installed")

_CASES = Path(__file__).with_name("official_client.py")
_OPTIONS = ("-q", "-p", "no:unraisableexception", "-p", "no:threadexception", "-p", "no:cacheprovider")


def test_the_official_client_is_served() -> None:
    argv = [sys.executable, "-m", "pytest", *_OPTIONS, str(_CASES)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-4_000:]
    assert " passed" in done.stdout
