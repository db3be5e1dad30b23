"""Providers by name, and the one to use here."""

from __future__ import annotations

from rsibench.errors import EnvironmentFault, SpecError
from rsibench.ports.sandbox import Probe, SandboxProvider
from rsibench.sandbox.bubblewrap.provider import BubblewrapProvider
from rsibench.sandbox.docker.provider import DockerProvider

AUTO = "auto"
PROVIDERS = ("bubblewrap", "docker")
"""In the order in which `auto` tries them."""


def provider(name: str) -> SandboxProvider:
    """The provider of that name, not probed. Raises SpecError for an unknown one."""
    if name == BubblewrapProvider.name:
        return BubblewrapProvider()
    if name == DockerProvider.name:
        return DockerProvider()
    raise SpecError(f"no sandbox provider is named {name!r}", fix=f"one of {', '.join((AUTO, *PROVIDERS))}")


def choose_provider(name: str = AUTO) -> tuple[SandboxProvider, Probe]:
    """A provider whose probe has passed just now, and the probe. Raises EnvironmentFault with every reason."""
    reasons = []
    for one in PROVIDERS if name == AUTO else (name,):
        found = provider(one)
        probe = found.probe()
        if probe.available:
            return found, probe
        reasons.append(f"{one}: {probe.why}")
    raise EnvironmentFault(
        f"no isolation can be had here: {'; '.join(reasons)}",
        fix="correct one of these, or run with --unisolated, which labels the run for ever",
    )


def survey() -> list[Probe]:
    """What every provider can do here."""
    return [provider(name).probe() for name in PROVIDERS]
