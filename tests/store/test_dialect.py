"""Reaching SQLite: the switch to WAL mode, which SQLite's own busy timeout does not cover."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import text

from rsibench.store.dialect import make_engine, sqlite_url

ROUNDS = 80
OPENERS = 4


def _open_at_once(path: Path) -> list[str]:
    """What each of several first openers of one new file meets: the journal mode, or an error."""
    gate = threading.Barrier(OPENERS)
    found: list[str] = []

    def open_file() -> None:
        engine = make_engine(sqlite_url(path))
        gate.wait()
        try:
            with engine.connect() as connection:
                found.append(str(connection.execute(text("PRAGMA journal_mode")).scalar()))
        except Exception as error:
            found.append(str(error))
        finally:
            engine.dispose()

    openers = [threading.Thread(target=open_file) for _ in range(OPENERS)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
    return found


def test_openers_of_one_new_file_wait_for_each_other(tmp_path: Path) -> None:
    found = [_open_at_once(tmp_path / f"{number}.sqlite") for number in range(ROUNDS)]
    assert found == [["wal"] * OPENERS] * ROUNDS
