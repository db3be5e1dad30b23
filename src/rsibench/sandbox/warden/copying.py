"""Copies regular files and folders between the host's folders and a sandbox's, when nothing runs inside.

One side was written by a researcher. Every step opens by name in an open folder and never follows a link, so that a
link in either tree leads nowhere; links, devices, FIFOs and sockets are left out and counted. Modification times are
kept, and a file is copied into the sandbox only when it is newer there than what is there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_DEEPEST = 64
_CHUNK_BYTES = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass
class Copying:
    """One copy of a tree; its counters go up as it proceeds."""

    most_bytes: int
    skip: Collection[str] = ()
    """Paths relative to the tree that are not touched on either side."""
    owner: int | None = None
    """The user that the copies belong to, None for the own one."""
    only_newer: bool = False
    mirror: bool = False
    """Whether what the source has not is removed from the target."""
    left_out: int = 0
    copied_bytes: int = 0

    def run(self, source: Path, target: Path) -> None:
        """Copies `source`'s content into `target`; both are folders."""
        with _opened(os.open(source, _FOLDER)) as read, _opened(os.open(target, _FOLDER)) as write:
            self._folder(read, write, "", 0)

    def _folder(self, source: int, target: int, path: str, depth: int) -> None:
        names = sorted(os.listdir(source))
        if self.mirror:
            for name in set(os.listdir(target)) - set(names):
                if not self._skipped(path + name):
                    _remove(name, target)
        for name in names:
            if (path + name) in self.skip:
                continue
            found = os.stat(name, dir_fd=source, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode) and depth < _DEEPEST:
                self._subfolder(source, target, path + name, found, depth)
            elif stat.S_ISREG(found.st_mode):
                self._file(source, target, name, found)
            else:
                self.left_out += 1

    def _skipped(self, path: str) -> bool:
        """Whether it is, or holds, something that must not be touched."""
        return any(kept == path or kept.startswith(path + "/") for kept in self.skip)

    def _subfolder(self, source: int, target: int, path: str, found: os.stat_result, depth: int) -> None:
        name = path.rpartition("/")[2]
        make_folder(target, name)
        with (
            _opened(os.open(name, _FOLDER, dir_fd=source)) as read,
            _opened(os.open(name, _FOLDER, dir_fd=target)) as write,
        ):
            self._own(write, found.st_mode | stat.S_IRWXU)
            self._folder(read, write, path + "/", depth + 1)

    def _file(self, source: int, target: int, name: str, found: os.stat_result) -> None:
        there = _stat(name, target)
        if there is not None and not stat.S_ISREG(there.st_mode):
            _remove(name, target)
            there = None
        if there is not None and self.only_newer and there.st_mtime_ns >= found.st_mtime_ns:
            return
        if found.st_size > self.most_bytes - self.copied_bytes:
            self.left_out += 1
            return
        self.copied_bytes += found.st_size
        if there is not None:
            os.unlink(name, dir_fd=target)  # never through a second name of the same file
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        reading = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=source)
        with _opened(reading) as read, _opened(os.open(name, flags, 0o600, dir_fd=target)) as write:
            left = found.st_size
            while left and (chunk := os.read(read, min(left, _CHUNK_BYTES))):
                _write_all(write, chunk)
                left -= len(chunk)
            self._own(write, found.st_mode)
            os.utime(write, ns=(found.st_atime_ns, found.st_mtime_ns))

    def _own(self, opened: int, mode: int) -> None:
        if self.owner is not None:
            os.fchown(opened, self.owner, self.owner)
        os.fchmod(opened, mode & 0o777)


def make_folder(parent: int, name: str) -> None:
    """A real folder `name` in the open folder `parent`; anything else of that name is removed."""
    found = _stat(name, parent)
    if found is not None and not stat.S_ISDIR(found.st_mode):
        _remove(name, parent)
        found = None
    if found is None:
        os.mkdir(name, 0o755, dir_fd=parent)


def make_mount_point(root: Path, relative: str, *, folder: bool, owner: int | None) -> None:
    """A real folder or file at `relative` under `root`, no link on the way; other things there are removed."""
    *parents, last = relative.split("/")
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(_opened(os.open(root, _FOLDER)))
        for name in parents:
            made = _stat(name, here) is None
            make_folder(here, name)
            here = stack.enter_context(_opened(os.open(name, _FOLDER, dir_fd=here)))
            if owner is not None and made:
                os.fchown(here, owner, owner)
        if folder:
            make_folder(here, last)
            return
        found = _stat(last, here)
        if found is not None and not stat.S_ISREG(found.st_mode):
            _remove(last, here)
            found = None
        if found is None:
            os.close(os.open(last, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=here))


def give_all(root: Path, owner: int) -> None:
    """Makes `owner` the owner of `root` and all in it; links themselves, never what they name."""
    for _, folders, files, opened in os.fwalk(root, follow_symlinks=False):
        os.fchown(opened, owner, owner)
        for name in (*folders, *files):
            os.chown(name, owner, owner, dir_fd=opened, follow_symlinks=False)


def used_bytes(root: Path) -> int:
    """What the tree takes on disk. Things that vanish meanwhile are not counted."""
    total = 0
    for _, _, files, opened in os.fwalk(root, follow_symlinks=False):
        for name in files:
            found = _stat(name, opened)
            total += found.st_blocks * 512 if found is not None else 0
    return total


@contextmanager
def _opened(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _stat(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def _remove(name: str, folder: int) -> None:
    found = _stat(name, folder)
    if found is not None and stat.S_ISDIR(found.st_mode):
        shutil.rmtree(name, dir_fd=folder)
    elif found is not None:
        os.unlink(name, dir_fd=folder)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
