"""How commands print: JSON for programs on standard output, tables for people."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

from rsibench.spec.frozen import Frozen


def console() -> Console:
    """The console for people; colours only where there is a terminal."""
    return Console(highlight=False, soft_wrap=False)


def print_json(value: Frozen | dict[str, Any] | list[Any]) -> None:
    """One JSON document on standard output."""
    data = value.model_dump(mode="json") if isinstance(value, Frozen) else value
    json.dump(data, sys.stdout, indent=1, sort_keys=True, ensure_ascii=False)
    sys.stdout.write("\n")
