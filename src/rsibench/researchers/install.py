"""Installs a pinned agent from npm into a private folder and finds its program. Nothing of the package runs on install.

The program is called directly, never through the package's launcher, and its SHA-256 is recorded with every start.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from rsibench.errors import EnvironmentFault, SpecError
from rsibench.ports.adapter import AgentAdapter
from rsibench.researchers.agents.claude_code import ClaudeCode
from rsibench.researchers.agents.codex import Codex
from rsibench.researchers.agents.opencode import OpenCode

_INSTALL_SECONDS = 900
_MACHINES = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class AgentPackage(NamedTuple):
    """Where an agent comes from. `program` is a path inside the prefix; `{machine}` is x64 or arm64."""

    adapter: AgentAdapter
    package: str
    version: str
    program: str
    what: str


_CODEX_PROGRAM = "node_modules/@openai/codex-linux-{machine}/vendor/{triple}/bin/codex"
AGENTS: dict[str, AgentPackage] = {
    "claude-code": AgentPackage(
        ClaudeCode(),
        "@anthropic-ai/claude-code",
        "2.1.332",
        "node_modules/@anthropic-ai/claude-code-linux-{machine}/claude",
        "Anthropic's command line agent",
    ),
    "codex": AgentPackage(Codex(), "@openai/codex", "0.171.0", _CODEX_PROGRAM, "OpenAI's command line agent"),
    "opencode": AgentPackage(
        OpenCode(), "opencode-ai", "1.18.33", "node_modules/opencode-linux-{machine}/bin/opencode", "OpenCode"
    ),
}


class InstalledAgent(NamedTuple):
    """A program that is there, with the bytes it has."""

    name: str
    version: str
    program: Path
    sha256: str

    @property
    def adapter(self) -> AgentAdapter:
        return AGENTS[self.name].adapter


def agent_package(name: str) -> AgentPackage:
    """The pinned package of an agent. Raises SpecError for an unknown one."""
    if name not in AGENTS:
        raise SpecError(f"there is no agent {name!r}", where="researcher", fix=f"known: {', '.join(AGENTS)}")
    return AGENTS[name]


def agents_folder(cache: Path) -> Path:
    """Where agents are installed by default."""
    return cache / "agents"


def find_agent(name: str, prefix: Path) -> InstalledAgent | None:
    """The installed agent under `prefix`, or None."""
    package = agent_package(name)
    machine = platform.machine()
    path = package.program.format(machine=_MACHINES.get(machine, machine), triple=f"{machine}-unknown-linux-musl")
    program = prefix / name / path
    if not program.is_file():
        return None
    with program.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return InstalledAgent(name, package.version, program, digest)


def install_agent(name: str, prefix: Path) -> InstalledAgent:
    """Installs the pinned version, or finds it installed. Raises EnvironmentFault when npm is missing or fails."""
    package = agent_package(name)
    found = find_agent(name, prefix)
    if found is not None:
        return found
    npm = shutil.which("npm")
    if npm is None:
        raise EnvironmentFault("npm is not installed", where=name, fix="install node and npm, then run it again")
    folder = prefix / name
    folder.mkdir(parents=True, exist_ok=True)
    argv = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)]
    try:
        done = subprocess.run(
            [*argv, f"{package.package}@{package.version}"],
            capture_output=True,
            text=True,
            timeout=_INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EnvironmentFault("npm did not come to an end", where=name, fix="look at the network") from None
    found = find_agent(name, prefix)
    if done.returncode != 0 or found is None:
        last = (done.stderr.strip().splitlines() or ["no program for this machine"])[-1]
        raise EnvironmentFault(f"npm could not install it: {last}", where=name, fix="look at npm's registry settings")
    return found
