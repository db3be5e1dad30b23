"""A sandbox by docker, within the process that holds it. Workspace size is a watchdog's: containers have no quota."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rsibench.errors import EnvironmentFault
from rsibench.ports.sandbox import SandboxEnd, inside_socket
from rsibench.sandbox.docker.arguments import INSIDE_CONTROL, INSIDE_PROGRAMS, run_arguments
from rsibench.sandbox.inside import __file__ as _inside_file
from rsibench.sandbox.warden.plan import CONTROL_SOCKET, WardenPlan
from rsibench.sandbox.warden.storage import Storage, prepare
from rsibench.sandbox.warden.watch import Watchdog

_KILL_SECONDS = 20.0


class DockerBox:
    """A Box."""

    def __init__(self, plan: WardenPlan) -> None:
        self._plan = plan
        self._name = f"rsibench-{plan.folder.name}"
        self._storage: Storage | None = None
        self._watchdog = Watchdog(memory_bytes=None, disk=None)
        self._process: subprocess.Popen[bytes] | None = None
        self.control = plan.folder / CONTROL_SOCKET

    def prepare(self) -> Mapping[str, str]:
        """Storage; the daemon does the rest."""
        plan = self._plan
        self._storage = prepare(plan.spec, plan.uid, None)
        self._watchdog.disk = (self._storage.used, plan.spec.limits.workspace_bytes)
        return {
            "user": "a user id of its own" if plan.uid is not None else "the user's own id",
            "workspace limit": self._storage.fact,
            "memory limit": "docker",
            "process limit": "docker",
            "processor limit": "none asked" if plan.spec.limits.cpus is None else "docker",
            "system calls": "docker's default filter",
        }

    def launch(self) -> subprocess.Popen[bytes]:
        """The docker command in the foreground, so that its end is the container's."""
        plan, storage = self._plan, self._storage
        if storage is None:
            raise EnvironmentFault("the sandbox was not prepared")
        shown = [(Path(_inside_file).parent, INSIDE_PROGRAMS), (self.control, INSIDE_CONTROL)]
        for name, path in plan.spec.sockets.items():
            shown.append((path, inside_socket(name)))
            if plan.uid is not None:
                os.chown(path, plan.uid, plan.uid)
        shown += plan.spec.read_only
        if any("," in str(host) for host, _ in shown):
            raise EnvironmentFault("docker cannot mount a path with a comma", fix="keep runs in another folder")
        user = plan.uid if plan.uid is not None else os.getuid()
        arguments = run_arguments(
            self._name,
            plan.settings["image"],
            user,
            storage.workspace,
            storage.home,
            shown,
            plan.spec.limits,
        )
        try:
            self._process = subprocess.Popen(
                [plan.settings["program"], *arguments], stdin=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            raise EnvironmentFault(f"docker cannot be started: {error}") from error
        return self._process

    def over_limit(self) -> str:
        """Only the workspace's size is ours to watch."""
        return self._watchdog.over_limit()

    def kill(self) -> None:
        """By the daemon; the command ends with its container."""
        if self._process is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(
                    [self._plan.settings["program"], "rm", "--force", self._name],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    timeout=_KILL_SECONDS,
                    check=False,
                )
            if self._process.poll() is None:
                self._process.kill()

    def finish(self, end: SandboxEnd) -> SandboxEnd:
        """Folders and sockets back."""
        if self._storage is None:
            return end
        for path in self._plan.spec.sockets.values():
            if self._plan.uid is not None and path.is_socket():
                os.chown(path, os.getuid(), os.getgid())
        used = self._storage.used()
        return replace(end, workspace_bytes=used, left_out=self._storage.give_back(self._plan.spec))
