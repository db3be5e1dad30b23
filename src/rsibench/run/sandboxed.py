"""Starts a command line agent in a sandbox: the same agent as in `run/agent.py`, but it sees only what is named here.

Inside are the workspace, a private home, the agent's own program, the task and the evidence read-only, and two sockets:
the laboratory's and the model's. The agent's model address is a port of the sandbox's own loopback that leads to the
model's socket. `research` refuses a starter whose provider is not the one that the lock names.
"""

from __future__ import annotations

import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from signal import Signals

from rsibench.ports.sandbox import (
    INSIDE_HOME,
    INSIDE_PATH,
    INSIDE_WORKSPACE,
    SandboxLimits,
    SandboxProcess,
    SandboxProvider,
    SandboxSpec,
    inside_socket,
)
from rsibench.researchers.install import InstalledAgent
from rsibench.researchers.transcript import Transcript
from rsibench.run.agent import AgentStarter
from rsibench.run.context import RunContext
from rsibench.run.researcher import LAB_VARIABLE
from rsibench.spec.researcher import ModelAccess

MODEL_PORT = 8700
_LAB, _MODEL = "lab", "model"
_AGENT_FOLDER = "/opt/agent"
_READ_ONLY = ("TASK.md", "evidence", "lab")
_READABLE = stat.S_IRGRP | stat.S_IROTH
_PUMP_SECONDS = 30.0


class SandboxedAgentStarter(AgentStarter):
    """A Starter. `model_socket` is where the model's endpoint listens; `access.base_url` is not used."""

    def __init__(
        self,
        context: RunContext,
        agent: InstalledAgent,
        access: ModelAccess,
        provider: SandboxProvider,
        model_socket: Path,
        limits: SandboxLimits | None = None,
    ) -> None:
        super().__init__(context, agent, access._replace(base_url=f"http://127.0.0.1:{MODEL_PORT}"))
        self.isolation = provider.name
        self._provider = provider
        self._model_socket = model_socket
        self._limits = limits or SandboxLimits()

    def start(self, number: int, socket: Path, message: str | None) -> SandboxedAgent:
        """The running agent."""
        mounted, program = _program(self._agent.program)
        ready = self.ready(number, message, program)
        process = self._provider.start(
            self._spec(socket, mounted, ready.environment), ready.argv, stderr=self._folder.logs / "researcher.log"
        )
        return SandboxedAgent(process, ready.transcript, self._agent.adapter.stop_signal)

    def discard(self) -> None:
        """Removes what was kept between starts, at the end of a run; workspace and home stay."""
        self._provider.discard(self._spec(self._model_socket, self._agent.program, {}))

    def _spec(self, socket: Path, mounted: Path, environment: Mapping[str, str]) -> SandboxSpec:
        workspace = self._folder.workspace
        shown = tuple((_readable(workspace / name), f"{INSIDE_WORKSPACE}/{name}") for name in _READ_ONLY)
        return SandboxSpec(
            workspace=workspace,
            home=self.home,
            keep=self._folder.root / "sandbox",
            read_only=(*shown, (mounted, _AGENT_FOLDER)),
            sockets={_LAB: socket, _MODEL: self._model_socket},
            ports={MODEL_PORT: _MODEL},
            environment=_inside(environment, self.home),
            limits=self._limits,
        )


class SandboxedAgent:
    """One start; what `ResearcherProcess` is without a sandbox."""

    def __init__(self, process: SandboxProcess, transcript: Transcript, stop_signal: Signals) -> None:
        self._process = process
        self._transcript = transcript
        self._stop_signal = stop_signal
        self._pump = threading.Thread(target=self._take, daemon=True)
        self._pump.start()

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._process.poll()

    def stop(self) -> int | None:
        """Asks the agent to end, then kills what is left; returns its exit code."""
        code = self._process.stop(self._stop_signal)
        self._pump.join(_PUMP_SECONDS)
        return code

    def _take(self) -> None:
        if self._process.stdout is not None:
            with self._process.stdout as stream:
                self._transcript.pump(stream)
        self._transcript.close()


def _program(program: Path) -> tuple[Path, str]:
    """The folder to mount for a program that npm installed, and where the program is inside."""
    modules = next((one for one in program.parents if one.name == "node_modules"), program.parent)
    return modules, f"{_AGENT_FOLDER}/{program.relative_to(modules)}"


def _readable(path: Path) -> Path:
    """Lets the sandbox's own user read what it is shown, whatever the controller's umask was."""
    for one in (path, *path.rglob("*")) if path.is_dir() else (path,):
        mode = one.stat().st_mode
        search = _READABLE >> 2 if mode & stat.S_IXUSR else 0
        one.chmod(stat.S_IMODE(mode) | _READABLE | search)
    return path


def _inside(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """The agent's environment with the home where it is inside."""
    moved = {name: value.replace(str(home), INSIDE_HOME) for name, value in environment.items()}
    fixed = {"PATH": INSIDE_PATH, "LANG": "C.UTF-8", "USER": "agent", "SHELL": "/bin/bash", "TMPDIR": "/tmp"}  # noqa: S108 - inside
    return {**fixed, "HOME": INSIDE_HOME, LAB_VARIABLE: inside_socket(_LAB), **moved}
