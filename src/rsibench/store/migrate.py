"""Brings a database to the newest schema with alembic, or says why it cannot.

Invariant: however many processes open a new or old file at once, its migrations run once, whole or not at all, because
they run in one transaction that nobody else who opens it can share. Not here: what each revision does
(`migrations/versions/`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, inspect, text

from rsibench.errors import EnvironmentFault

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

HEAD = "0002"
"""The newest revision in `migrations/versions/`; checked first, so that alembic is imported only when it is needed."""

_VERSION_TABLE = "alembic_version"


def migrate(connection: Connection, where: str, *, to: str = HEAD) -> None:
    """Upgrades the database to revision `to`: the newest, unless a test wants an older one.

    `connection` is inside a transaction that everybody who opens the store takes in turn. Raises
    EnvironmentFault for a schema that is newer than this program, and for a database of some other program.
    """
    current = _current_revision(connection, where)
    if current == to:
        return
    if current is not None and current not in _known_revisions():
        raise EnvironmentFault(
            f"it was written by a newer version of this program (schema {current}; this version knows up to {HEAD})",
            where=where,
            fix="upgrade rsibench-data, or choose another store",
        )
    _upgrade(connection, to)


def _current_revision(connection: Connection, where: str) -> str | None:
    tables = inspect(connection).get_table_names()
    if _VERSION_TABLE in tables:
        revision = connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()  # noqa: S608 - a constant
        if revision is not None:
            return str(revision)
    if any(table != _VERSION_TABLE for table in tables):
        fix = "choose another one; nothing in this one was changed"
        raise EnvironmentFault("it is a database of some other program", where=where, fix=fix)
    return None


def _known_revisions() -> set[str]:
    return {script.revision for script in _scripts().walk_revisions()}


def _scripts() -> ScriptDirectory:
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - a fifth of a second, needed only by a new file

    return ScriptDirectory(str(Path(__file__).parent / "migrations"))


def _upgrade(connection: Connection, to: str) -> None:
    from alembic.config import Config  # noqa: PLC0415 - as above
    from alembic.runtime.environment import EnvironmentContext  # noqa: PLC0415 - as above

    scripts = _scripts()

    def steps(revision: Any, _context: Any) -> Any:
        return scripts._upgrade_revs(to, revision)  # what alembic's own `upgrade` command calls

    with EnvironmentContext(Config(), scripts, fn=steps, destination_rev=to) as environment:
        environment.configure(connection=connection)
        environment.run_migrations()
