"""A whole run on Postgres: the same events as on SQLite, a chain that holds, and rows that agree with the journal."""

from __future__ import annotations

from pathlib import Path

from rsibench.journal.chain import verify_chain
from rsibench.journal.comparable import comparable
from rsibench.journal.fold import fold
from rsibench.testing.run_builder import RunBuilder


def test_a_run_is_the_same_on_both_databases(postgres_url: str, tmp_path: Path) -> None:
    with RunBuilder(tmp_path / "there", url=postgres_url) as there, RunBuilder(tmp_path / "here") as here:
        there.whole()
        here.whole()
        rows = tuple(there.journal.rows())
        assert rows == tuple(here.journal.rows()), "to the byte: the clocks of both are set"
        assert verify_chain(rows, must_be_sealed=True).events == len(rows) > 0
        assert list(comparable(there.journal.entries())) == list(comparable(here.journal.entries()))
        state = there.journal.state()
        assert state == fold(there.journal.entries()) == here.journal.state()
        there.ledger.check_against(state)
