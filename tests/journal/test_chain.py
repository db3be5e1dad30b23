"""The chain: every kind of damage is found and named."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rsibench.errors import IntegrityError
from rsibench.journal.chain import VerifiedChain, checked_rows, verify_chain
from rsibench.journal.envelope import Head, genesis_hash, row_hash
from rsibench.store.rows import EventRow
from rsibench.testing.run_builder import RunBuilder

Rows = Sequence[EventRow]


def _rehashed(rows: Rows) -> list[EventRow]:
    """Rows whose links and hashes were all made to fit, as a careful forger would."""
    fitted: list[EventRow] = []
    previous = genesis_hash(rows[0].run_id)
    for row in rows:
        linked = row._replace(previous_hash=previous)
        fitted.append(linked._replace(hash=row_hash(linked)))
        previous = fitted[-1].hash
    return fitted


def test_a_whole_run_verifies_and_ends_sealed(whole_run: RunBuilder, whole_rows: Rows) -> None:
    chain = verify_chain(
        whole_rows, run_id=whole_run.run_id, expected_head=whole_run.journal.head(), must_be_sealed=True
    )
    last = whole_rows[-1]
    assert chain == VerifiedChain(whole_run.run_id, len(whole_rows), Head(last.seq, last.hash), sealed=True)


def test_a_run_under_way_verifies_and_is_not_sealed(whole_rows: Rows) -> None:
    assert not verify_chain(whole_rows[:-1]).sealed
    with pytest.raises(IntegrityError, match=r"a finished run ends with run\.sealed"):
        verify_chain(whole_rows[:-1], must_be_sealed=True)


def test_a_cut_tail_is_found_against_a_known_head(whole_rows: Rows) -> None:
    head = Head(whole_rows[-1].seq, whole_rows[-1].hash)
    with pytest.raises(IntegrityError, match=f"ends here, but {head.seq} events"):
        verify_chain(whole_rows[:-3], expected_head=head)


def test_events_beyond_a_known_head_are_found(whole_rows: Rows) -> None:
    known = whole_rows[4]
    with pytest.raises(IntegrityError, match="5 events were recorded elsewhere"):
        verify_chain(whole_rows, expected_head=Head(known.seq, known.hash))


def test_a_rewritten_journal_is_found_against_a_known_head(whole_rows: Rows) -> None:
    head = Head(whole_rows[-1].seq, whole_rows[-1].hash)
    changed = [*whole_rows[:10], whole_rows[10]._replace(elapsed_ms=whole_rows[9].elapsed_ms), *whole_rows[11:]]
    forged = _rehashed(changed)
    assert verify_chain(forged).events == len(whole_rows)
    with pytest.raises(IntegrityError, match="recorded elsewhere"):
        verify_chain(forged, expected_head=head)


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("run_id", "another-run", "belongs to run 'another-run'"),
        ("seq", 99, "event 6 should stand here"),
        ("at", "2031-01-01T00:00:00.000000Z", "its content hashes to"),
        ("at", '2030-01-01","', "malformed"),
        ("at", b"2030-01-01T00:00:00.000000Z", "malformed"),
        ("elapsed_ms", 10**9, "its content hashes to"),
        ("elapsed_ms", "12", "no whole number"),
        ("kind", "run.resumed", "its content hashes to"),
        ("kind", 'run.resumed",', "malformed"),
        ("body", b"{}", "its content hashes to"),
        ("body", "{}", "not stored as bytes"),
        ("previous_hash", "0" * 64, "previous hash"),
        ("hash", "0" * 64, "its content hashes to"),
        ("hash", None, "its content hashes to"),
    ],
)
def test_a_changed_column_is_named(whole_rows: Rows, column: str, value: object, says: str) -> None:
    damaged = whole_rows[5]._replace(**{column: value})  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(IntegrityError, match=r"event \d+") as caught:
        verify_chain([*whole_rows[:5], damaged, *whole_rows[6:]])
    assert says in str(caught.value)


def test_the_error_names_run_number_and_kind(whole_run: RunBuilder, whole_rows: Rows) -> None:
    damaged = whole_rows[5]._replace(hash="0" * 64)
    with pytest.raises(IntegrityError) as caught:
        verify_chain([*whole_rows[:5], damaged, *whole_rows[6:]])
    assert caught.value.where == f"run {whole_run.run_id}, event 6 ({damaged.kind})"


def test_rows_before_the_damage_are_handed_on(whole_rows: Rows) -> None:
    rows = checked_rows([*whole_rows[:3], whole_rows[3]._replace(body=b"[]")])
    assert [next(rows), next(rows), next(rows)] == list(whole_rows[:3])
    with pytest.raises(IntegrityError):
        next(rows)


def test_another_runs_journal_is_refused_by_name(whole_rows: Rows) -> None:
    with pytest.raises(IntegrityError, match="not to 'expected-run'"):
        verify_chain(whole_rows, run_id="expected-run")


def test_no_events_at_all_is_an_error() -> None:
    with pytest.raises(IntegrityError, match="no events"):
        verify_chain([], run_id="run-1")


def test_a_forged_body_that_is_not_canonical_is_found(whole_rows: Rows) -> None:
    spaced = whole_rows[0]._replace(body=whole_rows[0].body.replace(b",", b", ", 1))
    with pytest.raises(IntegrityError, match="not canonical JSON"):
        verify_chain(_rehashed([spaced, *whole_rows[1:]]))


def test_forged_events_after_the_seal_are_found(whole_rows: Rows) -> None:
    extra = whole_rows[-2]._replace(seq=whole_rows[-1].seq + 1, elapsed_ms=whole_rows[-1].elapsed_ms)
    with pytest.raises(IntegrityError, match=r"after run\.sealed"):
        verify_chain(_rehashed([*whole_rows, extra]))


def test_time_that_runs_backwards_is_found_even_when_the_hashes_fit(whole_rows: Rows) -> None:
    slow = whole_rows[4]._replace(elapsed_ms=10**9)
    with pytest.raises(IntegrityError, match="is before the 1000000000 ms"):
        verify_chain(_rehashed([*whole_rows[:4], slow, *whole_rows[5:]]))


def test_a_journal_of_one_run_cannot_pass_as_another_runs(whole_rows: Rows) -> None:
    renamed = [row._replace(run_id="pocket-other") for row in whole_rows]
    with pytest.raises(IntegrityError, match="event 1 "):
        verify_chain(renamed)
