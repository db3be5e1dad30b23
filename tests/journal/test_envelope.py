"""The envelope: hashes that anybody can recompute, and one spelling of a moment."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from rsibench.errors import IntegrityError
from rsibench.journal.envelope import Head, decode, genesis_hash, seal, time_text
from rsibench.journal.events import EVENT, IncidentRecorded, RunResumed
from rsibench.spec.frozen import canonical_json
from rsibench.store.rows import EventRow


def test_a_hash_is_the_sha256_of_a_canonical_array_of_the_columns(whole_rows: tuple[EventRow, ...]) -> None:
    for row in whole_rows:
        columns = [row.previous_hash, row.run_id, row.seq, row.at, row.elapsed_ms, row.kind, json.loads(row.body)]
        assert row.hash == hashlib.sha256(canonical_json(columns)).hexdigest()


def test_a_row_decodes_to_the_entry_it_was_made_from() -> None:
    event = IncidentRecorded(incident="odd", detail='quotes " and \u00e9 and \U0001f600')
    at = datetime(2030, 5, 6, 7, 8, 9, 10, tzinfo=UTC)
    row, entry = seal("run-1", Head(4, "a" * 64), at, 77, event)
    assert decode(row) == entry
    assert (entry.seq, entry.at, entry.event) == (5, at, event)


def test_two_runs_never_share_a_first_hash() -> None:
    assert genesis_hash("run-1") != genesis_hash("run-2")


def test_a_moment_has_one_spelling_whatever_its_zone() -> None:
    here = datetime(2030, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=2)))
    assert time_text(here) == "2029-12-31T23:00:00.000000Z"


def test_every_kind_of_event_has_a_plain_name() -> None:
    kinds = [definition["properties"]["kind"]["const"] for definition in _event_definitions()]
    assert len(kinds) == len(set(kinds)) > 20
    for kind in kinds:
        left, _, right = kind.partition(".")
        assert left.isalpha()
        assert right.isalpha()


def _event_definitions() -> list[dict[str, dict[str, dict[str, str]]]]:
    definitions = EVENT.json_schema()["$defs"].values()
    return [definition for definition in definitions if "kind" in definition.get("properties", {})]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"body": b'{"kind":"run.resumed","measured":{},"extra":1}'}, "extra"),
        ({"body": b'{"kind":"run.unknown"}'}, "run.unknown"),
        ({"body": b"not json"}, "no event"),
        ({"body": b'{"kind":"run.interrupted","reason":"x"}'}, "of kind run.interrupted"),
        ({"at": "2030-13-01T00:00:00.000000Z"}, "no time"),
    ],
)
def test_a_row_that_is_no_event_is_named(change: dict[str, object], says: str) -> None:
    row, _ = seal("run-1", Head(4, "a" * 64), datetime(2030, 1, 1, tzinfo=UTC), 0, RunResumed())
    with pytest.raises(IntegrityError, match=r"run run-1, event 5 \(run.resumed\)") as caught:
        decode(row._replace(**change))  # type: ignore[arg-type]  # one column at a time, some of them wrong on purpose
    assert says in str(caught.value)
