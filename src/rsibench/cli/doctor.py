"""`rsibench doctor`: what works on this machine, what does not, and what to do about it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from importlib import util
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

from rsibench.cli.output import console, print_json
from rsibench.errors import EnvironmentFault
from rsibench.ports.sandbox import Probe
from rsibench.run.facts import machine_facts
from rsibench.sandbox.choose import survey
from rsibench.spec.settings import cache_folder, runs_home

_LEAST_DISK_BYTES = 3 << 30
_LEAST_MEMORY_BYTES = 3 << 30
_LEAST_PYTHON = (3, 12)


class Finding(NamedTuple):
    """One thing that was looked at. `needed` says that a local run cannot do without it."""

    name: str
    ok: bool
    needed: bool
    found: str
    fix: str = ""


def doctor(*, json: bool = False) -> int:
    """Look at what a local run needs. Exit code 0 when it can run, 3 when something needed is missing."""
    findings = examine()
    if json:
        print_json([finding._asdict() for finding in findings])
    else:
        table = Table(box=None, pad_edge=False)
        for heading in ("", "what", "found", "what to do"):
            table.add_column(heading, overflow="fold")
        for finding in findings:
            mark = "ok" if finding.ok else ("MISSING" if finding.needed else "absent")
            table.add_row(mark, finding.name, finding.found, "" if finding.ok else finding.fix)
        console().print(table)
    return EnvironmentFault.exit_code if any(f.needed and not f.ok for f in findings) else 0


def examine() -> list[Finding]:
    """All findings, the needed ones first."""
    machine = machine_facts()
    return [
        Finding(
            "Python >= 3.12",
            sys.version_info >= _LEAST_PYTHON,
            True,
            platform.python_version(),
            "install Python 3.12 or newer",
        ),
        *(_library(name) for name in ("torch", "transformers", "peft", "gguf")),
        _writable("runs", runs_home()),
        _writable("cache", cache_folder()),
        _disk(cache_folder()),
        _memory(),
        Finding(
            "processor", True, False, f"{machine.processor}, {machine.cpu_threads} cores, {machine.cpu_capability}"
        ),
        Finding(
            "CUDA device",
            machine.accelerator is not None,
            False,
            machine.accelerator or "none: training and sampling run on the processor",
            "nothing to do: a GPU is used when there is one",
        ),
        *(_sandbox(probe) for probe in survey()),
    ]


def _library(name: str) -> Finding:
    found = util.find_spec(name) is not None
    version = machine_facts().libraries.get(name, "installed") if found else "not installed"
    return Finding(f"library {name}", found, True, version, "pip install 'rsibench-data[local]'")


def _sandbox(probe: Probe) -> Finding:
    """By a throwaway sandbox that was looked at from inside."""
    facts = "; ".join(f"{name}: {fact}" for name, fact in probe.facts.items())
    name = f"sandbox {probe.provider}"
    return Finding(name, probe.available, False, facts if probe.available else probe.why, "not needed for local runs")


def _existing(path: Path) -> Path:
    return path if path.exists() else _existing(path.parent)


def _writable(name: str, path: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=_existing(path)):
            return Finding(f"{name} folder", True, True, str(path))
    except OSError as error:
        variable = f"RSIBENCH_{'HOME' if name == 'runs' else 'CACHE'}"
        return Finding(
            f"{name} folder", False, True, f"{path}: {error.strerror}", f"set {variable} to a writable folder"
        )


def _disk(path: Path) -> Finding:
    free = shutil.disk_usage(_existing(path)).free
    return Finding("free disk", free >= _LEAST_DISK_BYTES, True, f"{free / 2**30:.1f} GiB", "free 3 GiB on that disk")


def _memory() -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Finding("memory", total >= _LEAST_MEMORY_BYTES, True, f"{total / 2**30:.1f} GiB", "use a machine with 3 GiB")
