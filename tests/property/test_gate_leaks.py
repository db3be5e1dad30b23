"""Whatever is handed in: the screen neither fails nor misses an item that stands in it word for word."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rsibench.gate.leaks.detector import Detector, ProtectedIndex
from rsibench.gate.leaks.duplicates import DuplicateCounter
from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.spec.contamination import LeakClass

ITEM = ProtectedItem(
    "one",
    "Count the 31 lanterns which 7 keepers light along the old canal each evening.",
    "217",
    ("seven keepers light every lantern", "nobody lights the old canal", "the canal is dark after ten"),
    "def light(canal):\n    return [lamp for lamp in canal if lamp.dark]\n",
    ("+    lamp.light_when_dark(canal)\n+    canal.keepers.append(lamp.keeper)\n",),
    ("canal__lanterns-31007",),
)
INDEX = ProtectedIndex([ITEM], canaries=("canary-0c1d2e",), key=3)
TEXTS = st.lists(st.text(max_size=200), min_size=1, max_size=4)
ENCODED = st.text(st.sampled_from("QUJD+/=%26&#;x0a1f \n"), max_size=400)


def leaks(*rows: list[str]) -> list[LeakClass]:
    detector = Detector(INDEX)
    early = [one for number, row in enumerate(rows, start=1) for one in detector.take(number, row)]
    return [one.leak for one in [*early, *detector.finish()]]


@given(st.lists(TEXTS, max_size=4), ENCODED)
@settings(max_examples=150)
def test_any_text_can_be_looked_at(rows: list[list[str]], encoded: str) -> None:
    leaks(*rows, [encoded])
    counter = DuplicateCounter()
    for row in rows:
        counter.take(row)
    assert counter.counts.rows == len(rows)


@given(st.text(max_size=300), st.text(max_size=300))
@settings(max_examples=100)
def test_an_item_is_found_whatever_surrounds_it(before: str, after: str) -> None:
    assert LeakClass.VERBATIM in leaks([before, ITEM.prompt, after])


@given(TEXTS)
def test_a_repeated_row_counts_once_as_exact(texts: list[str]) -> None:
    counter = DuplicateCounter()
    counter.take(texts)
    counter.take(texts)
    assert counter.counts == (2, 1, 0)
