"""A PostgreSQL server of one's own, for tests: in a temporary folder, on loopback, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

_USER = "rsibench"
_START_SECONDS = 60.0
_SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 400
shared_buffers = 64MB
fsync = off
synchronous_commit = off
full_page_writes = off
"""


def server_programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`; None where no server is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


class PostgresServer:
    """A running server. It trusts whoever connects from this machine and is not safe against a power cut.

    PostgreSQL refuses to run as root; for root it runs as `postgres`, or as `nobody`.
    """

    def __init__(self) -> None:
        programs = server_programs()
        if programs is None:
            raise RuntimeError("no PostgreSQL server is installed")
        self._programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="rsibench-pg-"))
        self._data = self._folder / "data"
        self._port = _free_port()
        self._names = count(1)
        self._owner = _unprivileged()
        if self._owner is not None:
            os.chown(self._folder, self._owner.pw_uid, self._owner.pw_gid)

    def __enter__(self) -> Self:
        self._run("initdb", "-D", str(self._data), "-U", _USER, "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(_SETTINGS + f"port = {self._port}\n")
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "stop", check=False)
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> None:
        """Starts it and waits until it answers."""
        log = str(self._folder / "log")
        self._run("pg_ctl", "-D", str(self._data), "-l", log, "-w", "-t", str(int(_START_SECONDS)), "start")

    def stop(self) -> None:
        """Stops it at once, as a crash of the machine would, transactions and all."""
        self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop")

    def restart(self) -> None:
        """Stops it at once and starts it again; it recovers what was committed."""
        self.stop()
        self.start()

    def url(self, database: str = "postgres", user: str = _USER) -> str:
        """Where a database of it is."""
        return f"postgresql://{user}@127.0.0.1:{self._port}/{database}"

    def new_database(self) -> str:
        """Makes an empty database and returns its URL."""
        name = f"test_{next(self._names)}"
        self.sql(f"CREATE DATABASE {name}")
        return self.url(name)

    def sql(self, statement: str, database: str = "postgres") -> None:
        """Carries out one statement."""
        import psycopg  # noqa: PLC0415 - only tests with a server need it

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _run(self, program: str, *words: str, check: bool = True) -> None:
        owner = self._owner
        done = subprocess.run(
            [str(self._programs / program), *words],
            capture_output=True,
            check=False,
            user=None if owner is None else owner.pw_uid,
            group=None if owner is None else owner.pw_gid,
            extra_groups=None if owner is None else [],
            cwd=self._folder,
            env={"PATH": os.defpath, "LC_ALL": "C", "HOME": str(self._folder)},
            stdin=subprocess.DEVNULL,
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"{program} failed: {_last_line(done.stdout, done.stderr)}")


def _unprivileged() -> pwd.struct_passwd | None:
    """Who the server runs as; None for the user itself."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("there is no user besides root that the server could run as")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _last_line(*outputs: bytes) -> str:
    lines: Sequence[str] = b"".join(outputs).decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
