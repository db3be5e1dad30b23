"""Opening, migrating and transacting: all or nothing, across threads and processes, with errors that say what to do."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import func, select, text

from rsibench.errors import EnvironmentFault
from rsibench.store import migrate
from rsibench.store.dialect import sqlite_url
from rsibench.store.schema import BASE_SCORES, METADATA
from rsibench.store.store import Store


def _put(store: Store, key: str) -> None:
    with store.transaction() as connection:
        row = {"cache_key": key, "split": "selection", "trials_blob": "0" * 64, "score": b"{}"}
        connection.execute(BASE_SCORES.insert().values(**row))


def _keys(store: Store) -> set[str]:
    with store.reading() as connection:
        return set(connection.execute(select(BASE_SCORES.c.cache_key)).scalars())


def test_a_new_file_gets_folder_and_tables_and_keeps_what_was_written(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "new" / "folder" / "a.sqlite")
    with closing(Store.open(url)) as store:
        _put(store, "kept")
    with closing(Store.open(url)) as again:
        assert _keys(again) == {"kept"}


def test_the_migrated_schema_is_the_one_the_queries_are_written_for(store: Store) -> None:
    with store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_the_head_that_is_checked_first_is_the_newest_revision() -> None:
    folder = Path(migrate.__file__).parent / "migrations"
    assert ScriptDirectory(str(folder)).get_current_head() == migrate.HEAD


def test_commits_are_durable_and_foreign_keys_hold(sqlite_store: Store) -> None:
    store = sqlite_store
    with store.reading() as connection:
        settings = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "synchronous")
        }
        foreign_keys = connection.execute(text("PRAGMA foreign_keys")).scalar()
    full = 2
    assert settings == {"journal_mode": "wal", "synchronous": full}
    assert foreign_keys == 1


@pytest.mark.parametrize(
    "url", ["postgresql://host", "mysql://host/db", "no url at all", "sqlite://", "sqlite:///:memory:"]
)
def test_an_unsupported_url_is_refused_with_what_is_supported(url: str) -> None:
    with pytest.raises(EnvironmentFault, match=r"sqlite:///PATH|postgresql://USER@HOST/DATABASE"):
        Store.open(url)


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"these are notes, not a database, and they are longer than a header" * 20)
    before = path.read_bytes()
    with pytest.raises(EnvironmentFault, match="damaged or no database"):
        Store.open(sqlite_url(path))
    assert path.read_bytes() == before


def test_a_cut_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with closing(Store.open(sqlite_url(path))) as store:
        _put(store, "x")
    content = path.read_bytes()
    path.write_bytes(content[:2048] + b"\xff" * 4096)
    with pytest.raises(EnvironmentFault):
        Store.open(sqlite_url(path))


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE notes (text TEXT)")
    with pytest.raises(EnvironmentFault, match="some other program"):
        Store.open(sqlite_url(path))
    with closing(sqlite3.connect(path)) as theirs:
        assert theirs.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]


def test_a_newer_schema_is_refused_with_both_versions(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    Store.open(sqlite_url(path)).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(EnvironmentFault, match=rf"9999.*{migrate.HEAD}.*upgrade"):
        Store.open(sqlite_url(path))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EnvironmentFault, match=r"file/a\.sqlite"):
        Store.open(sqlite_url(tmp_path / "file" / "a.sqlite"))


def test_a_path_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="cannot be used"):
        Store.open(sqlite_url(tmp_path))


@pytest.mark.chaos
def test_processes_that_open_one_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    program = "import sys; from rsibench.store.store import Store; Store.open(sys.argv[1]).close(); print('open')"
    command = [sys.executable, "-c", program, sqlite_url(tmp_path / "shared.sqlite")]
    openers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(6)]
    answers = [opener.communicate(timeout=120) for opener in openers]
    assert answers == [("open\n", "")] * len(openers)


def test_threads_that_open_one_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "shared.sqlite")
    stores: list[Store] = []
    threads = [threading.Thread(target=lambda: stores.append(Store.open(url))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, store in enumerate(stores):
        _put(store, str(number))
    assert _keys(stores[0]) == {"0", "1", "2", "3", "4", "5"}
    for store in stores:
        store.close()


def test_a_block_that_raises_leaves_nothing(store: Store) -> None:
    def write_and_fail() -> None:
        with store.transaction():
            _put(store, "lost")
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    assert _keys(store) == set()


def test_an_inner_failure_that_is_caught_undoes_only_the_inner_block(store: Store) -> None:
    def fail_inside() -> None:
        with store.transaction():
            _put(store, "inner")
            raise KeyError

    with store.transaction():
        _put(store, "before")
        with pytest.raises(KeyError):
            fail_inside()
        _put(store, "after")
    assert _keys(store) == {"before", "after"}


def test_an_outer_failure_undoes_inner_blocks_that_had_ended(store: Store) -> None:
    def write_and_fail() -> None:
        with store.transaction():
            with store.transaction():
                _put(store, "inner")
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    assert _keys(store) == set()


def test_reading_sees_this_threads_changes_and_no_other_threads(store: Store) -> None:
    seen_elsewhere: list[set[str]] = []
    with store.transaction():
        _put(store, "uncommitted")
        here = _keys(store)
        reader = threading.Thread(target=lambda: seen_elsewhere.append(_keys(store)))
        reader.start()
        reader.join()
    assert (here, seen_elsewhere) == ({"uncommitted"}, [set()])


def test_threads_never_lose_an_update(store: Store) -> None:
    threads, rounds = 4, 15

    def count_up(name: int) -> None:
        for _ in range(rounds):
            with store.transaction() as connection:
                count = connection.execute(select(func.count()).select_from(BASE_SCORES)).scalar_one()
                _put(store, f"{count:04d}")

    workers = [threading.Thread(target=count_up, args=(name,)) for name in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert _keys(store) == {f"{count:04d}" for count in range(threads * rounds)}
