"""Reaching a database: SQLite's switch to WAL mode, which its busy timeout does not cover, and a missing driver."""

from __future__ import annotations

import subprocess
import sys
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


def test_a_missing_driver_is_named_with_how_to_get_it() -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from rsibench.errors import EnvironmentFault; from rsibench.store.store import Store\n"
        "try: Store.open('postgresql://user@127.0.0.1/x')\n"
        "except EnvironmentFault as fault: print(fault)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "pip install 'psycopg[binary]'" in done.stdout
