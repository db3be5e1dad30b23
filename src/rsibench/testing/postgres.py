"""A private Postgres server for tests and benchmarks: its own data folder, loopback only, gone when the block ends.

Invariant: nothing of an installed server is touched; only its programs are used. Postgres refuses to run as root, so
that for root it runs as the user `postgres`, or as `nobody` where there is none. Not here: anything that a real server
should be tuned for; data are as safe as Postgres's defaults make them, so that figures and kills mean something.
"""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from rsibench.errors import EnvironmentFault

_DEBIAN = "/usr/lib/postgresql"
_PROGRAMS = ("initdb", "pg_ctl", "postgres")
_USER = "rsibench"
_PASSWORD = "only-for-tests"  # noqa: S105 - of a server that is thrown away
_START_SECONDS = 60
_GUARD = 'read -r line; "$1" -D "$2/data" -m immediate stop; rm -rf "$2"'
_SETTINGS = {
    "listen_addresses": "'127.0.0.1'",
    "unix_socket_directories": "''",
    "max_connections": "120",
    "shared_buffers": "'64MB'",
    "logging_collector": "off",
}


def find_programs() -> Path:
    """The folder with Postgres's server programs. Raises EnvironmentFault when there is none."""
    onpath = shutil.which("initdb")
    folders = [Path(onpath).resolve().parent] if onpath else []
    versions = [path for path in Path(_DEBIAN).glob("*/bin") if path.parent.name.isdigit()]
    folders += sorted(versions, key=lambda path: int(path.parent.name), reverse=True)
    for folder in folders:
        if all((folder / name).is_file() for name in _PROGRAMS):
            return folder
    fix = "install a Postgres server, such as Debian's package postgresql"
    raise EnvironmentFault("no server programs (initdb, pg_ctl, postgres) were found", where="Postgres", fix=fix)


class PostgresServer:
    """A running server. Made by `postgres_server`."""

    def __init__(self, programs: Path, folder: Path, port: int, user: str | None) -> None:
        self._programs = programs
        self._data = folder / "data"
        self._log = folder / "log"
        self._user = user
        self._numbers = itertools.count(1)
        self.port = port

    def url(self, database: str = "postgres", *, password: str = _PASSWORD) -> str:
        """The URL of a database of this server."""
        return f"postgresql://{_USER}:{password}@127.0.0.1:{self.port}/{database}"

    def new_database(self, template: str = "template1") -> str:
        """Creates a database as a copy of `template`, to which nobody may be connected; returns its name."""
        name = f"test_{next(self._numbers)}"
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
        self.execute(statement)
        return name

    def execute(self, statement: sql.SQL | sql.Composed, database: str = "postgres") -> list[tuple[object, ...]]:
        """Runs one statement outside any transaction and returns its rows."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        # Without a log file of its own the server would keep this process's pipes open.
        self._control("start", "-l", str(self._log), "-t", str(_START_SECONDS))

    def stop(self) -> None:
        """Ends every connection and shuts down in an orderly way."""
        self._control("stop", "-m", "fast", "-t", str(_START_SECONDS))

    def restart(self) -> None:
        """Stops and starts again on the same port, as an operator does; every connection is lost."""
        self.stop()
        self.start()

    def kill(self) -> None:
        """Ends the server as a power cut would: at once, nothing flushed that was not already. `start` recovers."""
        self._control("stop", "-m", "immediate", "-t", str(_START_SECONDS))

    @property
    def pid(self) -> int:
        """The server's process."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    def running(self) -> bool:
        """Whether a server runs on the data folder."""
        command: list[str | Path] = [self._programs / "pg_ctl", "-D", self._data, "status"]
        return subprocess.run(command, user=self._user, capture_output=True, check=False).returncode == 0

    def _initialise(self, password_file: Path) -> None:
        options = ("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions", "--no-sync")
        self._run([self._programs / "initdb", "-D", self._data, "-U", _USER, "--pwfile", password_file, *options])
        lines = [f"{name} = {value}\n" for name, value in {**_SETTINGS, "port": str(self.port)}.items()]
        with (self._data / "postgresql.conf").open("a") as file:
            file.writelines(lines)

    def _control(self, *arguments: str) -> None:
        self._run([self._programs / "pg_ctl", "-D", self._data, "-w", *arguments])

    def _run(self, command: list[str | Path]) -> None:
        # A folder that the other user may enter: the current one may be closed to it.
        done = subprocess.run(
            command, user=self._user, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            log = self._log.read_text(errors="replace")[-2_000:] if self._log.is_file() else ""
            what = f"{Path(command[0]).name} failed: {done.stderr.strip()} {log}".strip()
            raise EnvironmentFault(what, where="Postgres for tests", fix="read the message above")


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A fresh server for the block. Raises EnvironmentFault where none can be had, with the reason."""
    programs = find_programs()
    user = _unprivileged_user()
    with tempfile.TemporaryDirectory(prefix="rsibench-postgres-") as name:
        folder = Path(name)
        password = folder / "password"
        password.write_text(_PASSWORD)
        if user is not None:
            account = pwd.getpwnam(user)
            os.chown(password, account.pw_uid, account.pw_gid)
            os.chown(folder, account.pw_uid, account.pw_gid)
        server = PostgresServer(programs, folder, _free_port(), user)
        server._initialise(password)
        with _guarded(programs, folder, user):
            server.start()
            try:
                yield server
            finally:
                if server.running():
                    os.kill(server.pid, signal.SIGCONT)  # a test may have frozen it
                    server.kill()


@contextmanager
def _guarded(programs: Path, folder: Path, user: str | None) -> Iterator[None]:
    """Ends server and folder also when this process is killed: a guard waits for the end of a pipe that it holds."""
    command = ["sh", "-c", _GUARD, "guard", str(programs / "pg_ctl"), str(folder)]
    with subprocess.Popen(
        command, user=user, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as guard:  # fmt: skip
        try:
            yield
        finally:
            guard.kill()


def _unprivileged_user() -> str | None:
    """The user to run as; None for the current one, which is not root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise EnvironmentFault("root cannot run it and there is no other user", where="Postgres", fix="add one: postgres")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
