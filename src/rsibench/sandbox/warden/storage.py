"""Where a sandbox's workspace and home really are: never the host's folders, but a copy that goes in and comes back.

As root with loop devices the copy is in a file system of fixed size, so that a full disk inside is only that.
Elsewhere it is a folder, and a watchdog kills a sandbox that has grown over its limit. It outlives a controller that
is killed, with all that a copy leaves out, and is used again by the next start.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rsibench.errors import EnvironmentFault
from rsibench.ports.sandbox import INSIDE_WORKSPACE, SandboxSpec
from rsibench.sandbox.warden import mounts
from rsibench.sandbox.warden.copying import Copying, give_all, make_mount_point, used_bytes

FIXED_SIZE_FACT = "file system of fixed size"
WATCHED_FACT = "watchdog"
_IMAGE = "sandbox.img"
_PLAIN = "sandbox"
_LEAST_IMAGE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Storage:
    """Prepared storage. `hard` says that its size is the kernel's to keep, not a watchdog's."""

    root: Path
    hard: bool

    @property
    def workspace(self) -> Path:
        """What is INSIDE_WORKSPACE."""
        return self.root / "workspace"

    @property
    def home(self) -> Path:
        """What is INSIDE_HOME."""
        return self.root / "home"

    @property
    def fact(self) -> str:
        """How the size is limited, for a probe."""
        return FIXED_SIZE_FACT if self.hard else WATCHED_FACT

    def used(self) -> int:
        """Bytes in use."""
        if self.hard:
            found = os.statvfs(self.root)
            return (found.f_blocks - found.f_bfree) * found.f_frsize
        return used_bytes(self.workspace) + used_bytes(self.home)

    def give_back(self, spec: SandboxSpec) -> int:
        """Makes the host's folders equal to what is here; returns how many things were left out."""
        copying = Copying(spec.limits.workspace_bytes, _mount_points(spec), mirror=True)
        copying.run(self.workspace, spec.workspace)
        copying.skip = ()
        copying.run(self.home, spec.home)
        return copying.left_out


def prepare(spec: SandboxSpec, uid: int | None, mount_at: Path | None) -> Storage:
    """Storage with the host's content in it. `mount_at` is where an image may be mounted, None where none can be."""
    spec.keep.mkdir(mode=0o700, parents=True, exist_ok=True)
    storage = _image(spec, mount_at) if mount_at is not None else None
    if storage is None:
        storage = Storage(spec.keep / _PLAIN, hard=False)
        storage.root.mkdir(mode=0o711, exist_ok=True)
    for folder in (storage.workspace, storage.home):
        folder.mkdir(mode=0o700, exist_ok=True)
        if uid is not None and folder.stat().st_uid != uid:
            give_all(folder, uid)
    copying = Copying(spec.limits.workspace_bytes, _mount_points(spec), uid, only_newer=True)
    copying.run(spec.workspace, storage.workspace)
    copying.skip = ()
    copying.run(spec.home, storage.home)
    for host, inside in spec.read_only:
        if inside.startswith(INSIDE_WORKSPACE + "/"):
            relative = inside.removeprefix(INSIDE_WORKSPACE + "/")
            make_mount_point(storage.workspace, relative, folder=host.is_dir(), owner=uid)
    return storage


def discard(spec: SandboxSpec) -> None:
    """Removes what was kept."""
    (spec.keep / _IMAGE).unlink(missing_ok=True)
    # not shutil: its depth is bounded, that of a researcher's folders is not
    subprocess.run(["rm", "-rf", "--", str(spec.keep / _PLAIN)], check=False, stderr=subprocess.DEVNULL)


def _image(spec: SandboxSpec, mount_at: Path) -> Storage | None:
    path = spec.keep / _IMAGE
    kept = path.exists()
    try:
        if not kept:
            mounts.make_image(path, max(spec.limits.workspace_bytes, _LEAST_IMAGE_BYTES))
        mounts.mount_image(path, mount_at)
    except EnvironmentFault:
        if not kept:
            path.unlink(missing_ok=True)
        return None
    with contextlib.suppress(FileNotFoundError):
        (mount_at / "lost+found").rmdir()
    mount_at.chmod(0o711)
    return Storage(mount_at, hard=True)


def _mount_points(spec: SandboxSpec) -> tuple[str, ...]:
    """Paths in the workspace that something of the host is mounted on."""
    inner = INSIDE_WORKSPACE + "/"
    return tuple(inside.removeprefix(inner) for _, inside in spec.read_only if inside.startswith(inner))
