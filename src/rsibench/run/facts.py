"""Facts recorded beside a result: the machine and the code that computed it. Never part of the protocol."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

import rsibench
from rsibench.spec.lock import Code, Machine

_LIBRARIES = ("torch", "transformers", "peft", "tokenizers", "numpy", "scipy", "pydantic")
_CAPABILITIES = (("avx512f", "avx512"), ("avx2", "avx2"), ("asimd", "neon"), ("avx", "avx"))


def machine_facts() -> Machine:
    """What decides whether a run here can be repeated bit for bit: processor kind, threads, accelerator, libraries."""
    return Machine(
        platform=f"{platform.system()}-{platform.machine()}",
        processor=_processor(),
        cpu_capability=_cpu_capability(),
        cpu_threads=usable_cores(),
        accelerator=_accelerator(),
        python=platform.python_version(),
        libraries={name: found for name in _LIBRARIES if (found := _version(name)) is not None},
    )


def code_facts() -> Code:
    """The distribution's version and, in a checkout, its commit and whether files differ from it."""
    folder = Path(rsibench.__file__).parent
    commit = _git(folder, "rev-parse", "HEAD")
    status = _git(folder, "status", "--porcelain", "--untracked-files=no") if commit else None
    return Code(version=rsibench.__version__, commit=commit or None, dirty=bool(status) if status is not None else None)


def usable_cores() -> int:
    """Processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpuinfo(key: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


def _processor() -> str:
    return _cpuinfo("model name") or platform.processor() or "unknown"


def _cpu_capability() -> str:
    flags = set((_cpuinfo("flags") or _cpuinfo("Features")).split())
    return next((name for flag, name in _CAPABILITIES if flag in flags), "baseline")


def _accelerator() -> str | None:
    """The first NVIDIA device's name as its driver reports it, without loading torch."""
    for information in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        for line in information.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("Model:"):
                return line.partition(":")[2].strip()
    return None


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
