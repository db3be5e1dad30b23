"""What a researcher is told about rows that hold protected items: the row and the class, and nothing else."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest

from rsibench.errors import SubmissionRefused
from rsibench.evaluation.generators import make_items
from rsibench.evaluation.pocket.kit.catalogue import FAMILIES
from rsibench.evaluation.pocket.kit.rows import STYLES, make_rows
from rsibench.gate.files import SubmissionFiles
from rsibench.gate.leaks.detector import Detector, ProtectedIndex
from rsibench.gate.leaks.protected import ProtectedItem, protected_items
from rsibench.lab.session import Session
from rsibench.spec.catalogue import load_profile
from rsibench.spec.contamination import LeakClass
from rsibench.spec.item import Split
from rsibench.testing.lab import HYPOTHESIS, LabBench, bench_row

ITEMS = (
    ProtectedItem(
        "held-out/alpha", "Nine grey herons wait at 12 ponds until 48 frogs come home. How many frogs a pond?"
    ),
    ProtectedItem(
        "held-out/omega", "Six tall cranes lift 90 crates onto 15 barges before noon. How many crates a barge?"
    ),
)


@pytest.fixture
def lab(tmp_path: Path) -> LabBench:
    """A lab whose gate protects two items."""
    bench = LabBench(tmp_path)
    bench.terms = replace(bench.terms, gate=replace(bench.terms.gate, protected=ProtectedIndex(ITEMS)))
    bench.session = Session(
        bench.terms, store=bench.store, journal=bench.journal, ledger=bench.ledger, blobs=bench.blobs, clock=bench.clock
    )
    return bench


def submit(lab: LabBench, *texts: str) -> SubmissionRefused:
    rows = "".join(json.dumps(bench_row(text)) + "\n" for text in texts).encode()
    with pytest.raises(SubmissionRefused) as refused:
        lab.session.submit(SubmissionFiles(rows, None, HYPOTHESIS), f"key-{len(lab.state().submissions)}")
    return refused.value


def test_the_refusal_says_the_same_whichever_item_it_was(lab: LabBench) -> None:
    with lab:
        told = [submit(lab, "good", item.prompt).problems for item in ITEMS]
    assert told[0] == told[1]
    assert [(problem.row, problem.code, problem.incident) for problem in told[0]] == [
        (2, "leak-verbatim", "contamination-verbatim")
    ]
    assert not any(word in repr(told[0]).casefold() for word in ("heron", "crane", "held-out", "alpha", "omega"))


def test_nothing_is_spent_and_the_evidence_is_kept_for_the_controller(lab: LabBench) -> None:
    with lab:
        before = lab.session.left().model_dump(exclude={"seconds", "seconds_to_submit"})
        submit(lab, base64.b64encode(ITEMS[0].prompt.encode()).decode())
        assert lab.session.left().model_dump(exclude={"seconds", "seconds_to_submit"}) == before
        assert not lab.state().attempts
        incident = lab.state().incidents[-1]
        evidence = json.loads(lab.blobs.get(incident.detail.rpartition(" ")[2]))
        assert incident.incident == "contamination"
        assert [(one["item_id"], one["leak"], one["row"]) for one in evidence] == [("held-out/alpha", "verbatim", 1)]
        assert lab.session.status().refused == 1
        assert "heron" not in lab.session.status().model_dump_json()


def test_the_public_kit_is_never_taken_for_a_held_out_item() -> None:
    profile = load_profile("pocket")
    items = [item for split in Split for item in make_items(profile.items, split)]
    detector = Detector(ProtectedIndex(protected_items(items)))
    refusing = profile.data.contamination.refuse
    found = []
    for number, row in enumerate(row for style in STYLES for row in make_rows(list(FAMILIES), style, 40, seed=9)):
        found += detector.take(number, [message["content"] for message in row["messages"]])
    found += detector.finish()
    assert [one for one in found if one.leak in refusing] == []
    assert any(one.leak is LeakClass.TEMPLATE for one in found)


def test_every_pocket_item_is_recognised() -> None:
    items = [item for split in Split for item in make_items(load_profile("pocket").items, split)]
    detector = Detector(ProtectedIndex(protected_items(items)))
    found = [one for number, item in enumerate(items) for one in detector.take(number, [item.prompt, "I cannot say."])]
    found += detector.finish()
    recognised = {one.row for one in found if one.leak is LeakClass.VERBATIM and one.item_id == items[one.row].item_id}
    assert recognised == set(range(len(items)))
