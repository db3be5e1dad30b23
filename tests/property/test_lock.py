"""The protocol digest: stable for equal protocols, another one for any change that can change a result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsibench.errors import IntegrityError
from rsibench.ids import sha256_bytes
from rsibench.run.plan import read_lock
from rsibench.spec.contamination import ContaminationPolicy
from rsibench.spec.frozen import canonical_json
from rsibench.spec.lock import Lock, Protocol
from rsibench.testing.runs import TinyRuns

_LEAST_LEAVES = 100


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> Lock:
    return TinyRuns(tmp_path_factory.mktemp("lock")).plan("feedback", run_id="run-lock").lock


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Paths of all values that are not containers."""
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
    if isinstance(value, list):
        return [leaf for index, inner in enumerate(value) for leaf in leaves(inner, (*path, index))]
    return [path]


def changed(value: Any, path: tuple[str | int, ...]) -> Any:
    """A copy of a JSON value with the leaf at `path` replaced by another of its type."""
    copy = json.loads(json.dumps(value))
    holder = copy
    for key in path[:-1]:
        holder = holder[key]
    old = holder[path[-1]]
    match old:
        case bool():
            holder[path[-1]] = not old
        case int() | float():
            holder[path[-1]] = old + 1
        case str():
            holder[path[-1]] = old + "x"
        case _:
            holder[path[-1]] = "x"
    return copy


def test_every_leaf_of_the_protocol_is_covered_by_the_digest(lock: Lock) -> None:
    document = json.loads(lock.protocol.canonical())
    paths = leaves(document)
    assert len(paths) > _LEAST_LEAVES
    digests = {sha256_bytes(canonical_json(changed(document, path))) for path in paths}
    assert len(digests) == len(paths)
    assert lock.protocol_digest not in digests


@settings(deadline=None)
@given(seed=st.randoms(use_true_random=False))
def test_the_digest_does_not_depend_on_the_order_of_keys(lock: Lock, seed: Any) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            keys = list(value)
            seed.shuffle(keys)
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(inner) for inner in value] if isinstance(value, list) else value

    document = shuffled(json.loads(lock.protocol.canonical()))
    assert Protocol.model_validate(document).digest() == lock.protocol_digest


def test_run_machine_and_code_are_recorded_but_not_covered(lock: Lock, tmp_path: Path) -> None:
    other = TinyRuns(tmp_path).plan("overreach", run_id="run-other", seed=7).lock
    assert other.run != lock.run
    assert other.protocol_digest == lock.protocol_digest


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_a_lock_whose_protocol_was_changed_is_not_read(lock: Lock, data: st.DataObject) -> None:
    document = json.loads(lock.model_dump_json())
    path = data.draw(st.sampled_from(leaves(document["protocol"])))
    document["protocol"] = changed(document["protocol"], path)
    with pytest.raises(IntegrityError, match=r"cannot be read|protocol digest"):
        read_lock(json.dumps(document).encode(), where="test")


def test_a_lock_reads_back_as_it_was_written(lock: Lock) -> None:
    assert read_lock(lock.canonical(), where="test") == lock


def test_a_lock_written_before_a_part_was_added_can_still_be_read(lock: Lock) -> None:
    """Its digest is over what was written then; the added part has its default."""
    document = json.loads(lock.canonical())
    del document["protocol"]["data"]["contamination"]
    document["protocol_digest"] = sha256_bytes(canonical_json(document["protocol"]))
    read = read_lock(json.dumps(document).encode(), where="test")
    assert read.protocol_digest == document["protocol_digest"] != lock.protocol_digest
    assert read.protocol.data.contamination == ContaminationPolicy()
    document["protocol"]["data"]["max_rows"] += 1
    with pytest.raises(IntegrityError, match="was changed"):
        read_lock(json.dumps(document).encode(), where="test")
