"""A sandbox by bubblewrap, within the process that holds it.

As root: mounts of its own, a user id of its own for the sandbox, a file system of fixed size, a cgroup. As another
user: the user's own id in a user namespace, and watchdogs for what the kernel does not limit for that user.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rsibench.errors import EnvironmentFault
from rsibench.ports.sandbox import SandboxEnd, inside_socket
from rsibench.sandbox.bubblewrap import arguments
from rsibench.sandbox.bubblewrap.etc import write_etc
from rsibench.sandbox.bubblewrap.seccomp import filter_program
from rsibench.sandbox.inside import __file__ as _inside_file
from rsibench.sandbox.state import record_cgroup
from rsibench.sandbox.warden import cgroups, mounts
from rsibench.sandbox.warden.plan import CONTROL_SOCKET, WardenPlan
from rsibench.sandbox.warden.storage import Storage, prepare
from rsibench.sandbox.warden.watch import Watchdog

_PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 38, 24
_MOST_CAPABILITIES = 64


@dataclass(frozen=True, slots=True)
class _Prepared:
    storage: Storage
    cgroup: cgroups.Cgroup | None
    watchdog: Watchdog


class BubblewrapBox:
    """A Box."""

    def __init__(self, plan: WardenPlan) -> None:
        self._plan = plan
        self._stage = plan.folder / "stage"
        self._prepared: _Prepared | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.control = plan.folder / CONTROL_SOCKET

    def prepare(self) -> Mapping[str, str]:
        """Mounts, storage and cgroup."""
        plan, limits = self._plan, self._plan.spec.limits
        as_root = plan.uid is not None
        if as_root:
            mounts.own_namespace()
            self._stage.mkdir(exist_ok=True)
            mounts.scratch(self._stage)
        storage = prepare(plan.spec, plan.uid, self._stage / "storage" if as_root else None)
        made = cgroups.make(
            f"rsibench-{plan.folder.name}",
            cgroups.CgroupLimits(limits.memory_bytes, limits.processes, limits.cpus),
        )
        cgroup = made[0] if made else None
        if cgroup is not None:
            record_cgroup(plan.folder, cgroup)
        watchdog = Watchdog(
            memory_bytes=None if cgroup else limits.memory_bytes,
            disk=None if storage.hard else (storage.used, limits.workspace_bytes),
        )
        self._prepared = _Prepared(storage, cgroup, watchdog)
        return {
            "user": "a user id of its own" if as_root else "the user's own id, in a user namespace",
            "workspace limit": storage.fact,
            "memory limit": made[1] if made else "watchdog",
            "process limit": made[1] if made else "rlimit",
            "processor limit": "none asked" if limits.cpus is None else made[1] if made else "none",
            "system calls": "seccomp filter" if filter_program() else "no filter for this architecture",
        }

    def launch(self) -> subprocess.Popen[bytes]:
        """bubblewrap with a bare environment, its arguments by a descriptor."""
        options = self._options()
        program = filter_program()
        filter_fd = _in_memory("filter", program) if program is not None else None
        given = arguments.bwrap_arguments(options, self._plan.spec.limits, filter_fd)
        arguments_fd = _in_memory("arguments", b"\0".join(os.fsencode(one) for one in given) + b"\0")
        kept = [one for one in (arguments_fd, filter_fd) if one is not None]
        try:
            self._process = subprocess.Popen(
                [self._plan.settings["program"], "--args", str(arguments_fd), "--", *arguments.command()],
                executable=self._plan.settings["program"],
                env={"PATH": "/usr/bin:/bin"},
                cwd="/",
                stdin=subprocess.DEVNULL,
                pass_fds=kept,
                preexec_fn=self._confine,  # noqa: PLW1509 - this process has one thread
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise EnvironmentFault(f"bubblewrap cannot be started: {error}") from error
        finally:
            for one in kept:
                os.close(one)
        self._prepared_now().watchdog.root = self._process.pid
        return self._process

    def over_limit(self) -> str:
        """By the watchdog, which looks only at what the kernel does not limit."""
        return self._prepared_now().watchdog.over_limit()

    def kill(self) -> None:
        """The cgroup, and the namespace by its first process."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
        if self._prepared is not None and self._prepared.cgroup is not None:
            self._prepared.cgroup.kill()

    def finish(self, end: SandboxEnd) -> SandboxEnd:
        """Folders back, cgroup away; the mounts go with this process."""
        if self._prepared is None:
            return end
        storage, cgroup, _ = self._prepared.storage, self._prepared.cgroup, self._prepared.watchdog
        if cgroup is not None:
            end = replace(end, memory_kills=cgroup.memory_kills(), memory_peak_bytes=cgroup.memory_peak_bytes())
            cgroup.remove()
        self._return_sockets()
        used = storage.used()
        return replace(end, workspace_bytes=used, left_out=storage.give_back(self._plan.spec))

    def _prepared_now(self) -> _Prepared:
        if self._prepared is None:
            raise EnvironmentFault("the sandbox was not prepared")
        return self._prepared

    def _options(self) -> arguments.Shown:
        """What is shown, staged under this sandbox's own folder where mounts are its own."""
        spec, storage = self._plan.spec, self._prepared_now().storage
        shown = write_etc(self._plan.folder / "etc")
        shown.append((Path(_inside_file).parent, arguments.INSIDE_PROGRAMS))
        shown.append((self.control, arguments.INSIDE_CONTROL))
        python = arguments.interpreter()[1]
        if python is not None:
            shown.append((python, arguments.INSIDE_PYTHON))
        shown += [(path, inside_socket(name)) for name, path in spec.sockets.items()]
        self._lend_sockets()
        shown += spec.read_only
        hidden = arguments.packages_in([Path("/usr")], ["/usr"])
        if python is not None:
            hidden += arguments.packages_in([python], [arguments.INSIDE_PYTHON])
        if self._plan.uid is None:
            return arguments.Shown(storage.workspace, storage.home, shown, hidden)
        staged = []
        for number, (host, inside) in enumerate(shown):
            mounts.bind(host, self._stage / f"m{number}")
            staged.append((self._stage / f"m{number}", inside))
        return arguments.Shown(storage.workspace, storage.home, staged, hidden)

    def _lend_sockets(self) -> None:
        """The sockets' owner becomes the sandbox's user; root opens them all the same."""
        if self._plan.uid is not None:
            for path in self._plan.spec.sockets.values():
                os.chown(path, self._plan.uid, self._plan.uid)

    def _return_sockets(self) -> None:
        if self._plan.uid is not None:
            for path in self._plan.spec.sockets.values():
                if path.is_socket():
                    os.chown(path, os.getuid(), os.getgid())

    def _confine(self) -> None:
        """In the child, before bubblewrap: the cgroup, limits, and the loss of every privilege."""
        limits = self._plan.spec.limits
        cgroup = self._prepared_now().cgroup
        if cgroup is not None:
            cgroup.join()
        else:
            _limit(resource.RLIMIT_NPROC, limits.processes)
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_NOFILE, limits.open_files)
        _limit(resource.RLIMIT_FSIZE, limits.file_bytes)
        os.umask(0o022)
        libc = ctypes.CDLL(None)
        uid = self._plan.uid
        if uid is not None:
            for capability in range(_MOST_CAPABILITIES):
                libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _limit(which: int, value: int) -> None:
    _, most = resource.getrlimit(which)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(which, (value, value))


def _in_memory(name: str, data: bytes) -> int:
    descriptor = os.memfd_create(name)
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
