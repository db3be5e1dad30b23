"""The detector on items of our own: every class, and what must not be taken for an item."""

from __future__ import annotations

import codecs

import pytest

from rsibench.gate.leaks.detector import Detector, ProtectedIndex
from rsibench.gate.leaks.findings import Finding
from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.spec.contamination import LeakClass

SHORT = ProtectedItem("short", "Mira keeps 14 bees, 3 wasps and 27 moths in a jar. How many wings do they have?", "176")
LONG = ProtectedItem(
    "long",
    "A ferry crosses a lake of 860 metres in 45 seconds when the wind blows from behind, and it needs 75 seconds for "
    "the way back. The captain wonders how strong the wind was and asks the cook, who has studied mechanics and knows "
    "that both speeds are measured against the water. Compute the speed of the wind in metres per minute.",
)
CHOICE = ProtectedItem(
    "choice",
    "Which remark about tides is right?",
    "B",
    ("they follow the moon alone", "the sun contributes about a third", "wind makes all of them", "rivers have none"),
)
CODE = ProtectedItem(
    "code",
    "Merge the intervals.",
    code="def merge(spans):\n    spans.sort()\n    merged = []\n    for low, high in spans:\n"
    "        if merged and merged[-1][1] >= low:\n            merged[-1][1] = max(merged[-1][1], high)\n"
    "        else:\n            merged.append([low, high])\n    return merged\n",
)
PATCH = ProtectedItem(
    "patch",
    "The cache forgets its entries.",
    patches=("+++ b/cache.py\n+    self._forgotten = OrderedDict()\n+    if key in self._forgotten:\n"
             "+        return self._forgotten.pop(key)\n",),
    names=("lakeside__ferry-20417", "0f3a9c5b7d1e2f4a6b8c0d1e2f3a4b5c6d7e8f90"),
)  # fmt: skip
INDEX = ProtectedIndex([SHORT, LONG, CHOICE, CODE, PATCH], canaries=("CANARY-77aa-bb",), key=5)


def classes(*rows: list[str]) -> list[tuple[int, LeakClass, str]]:
    return [(one.row, one.leak, one.item_id) for one in found(*rows)]


def found(*rows: list[str]) -> list[Finding]:
    detector = Detector(INDEX)
    early = [one for number, row in enumerate(rows, start=1) for one in detector.take(number, row)]
    return early + detector.finish()


@pytest.mark.parametrize(
    ("texts", "leak", "item"),
    [
        ([f"Please: {SHORT.prompt}", "176"], LeakClass.VERBATIM, "short"),
        ([SHORT.prompt[:31], SHORT.prompt[31:]], LeakClass.VERBATIM, "short"),
        ([SHORT.prompt[:30], SHORT.prompt[30:]], LeakClass.NEAR, "short"),
        ([codecs.encode(LONG.prompt, "rot13")], LeakClass.VERBATIM, "long"),
        ([LONG.prompt[::-1]], LeakClass.VERBATIM, "long"),
        ([SHORT.prompt.replace("keeps", "kepes")], LeakClass.NEAR, "short"),
        ([LONG.prompt.replace("strong", "mighty").replace("cook", "baker")], LeakClass.NEAR, "long"),
        ([SHORT.prompt.replace("14", "15")], LeakClass.TEMPLATE, "short"),
        ([LONG.prompt.replace("860", "990").replace("45", "55")], LeakClass.TEMPLATE, "long"),
        (["Tides?\n" + "\n".join(f"- {option}" for option in reversed(CHOICE.options))], LeakClass.OPTIONS, "choice"),
        ([(CODE.code or "").replace("merged", "out").replace("spans", "pairs")], LeakClass.CODE, "code"),
        (["  return self._forgotten.pop(key)\n  if key in self._forgotten:\n  self._forgotten = OrderedDict()"],
         LeakClass.PATCH, "patch"),
        (["see lakeside__ferry-20417"], LeakClass.IDENTIFIER, "patch"),
        (["cherry-pick 0f3a9c5b7d1e2f4a6b8c0d1e2f3a4b5c6d7e8f90"], LeakClass.IDENTIFIER, "patch"),
        (["text with canary-77AA-bb in it"], LeakClass.CANARY, "canary"),
    ],
)  # fmt: skip
def test_each_way_of_holding_an_item(texts: list[str], leak: LeakClass, item: str) -> None:
    assert (1, leak, item) in classes(texts)


@pytest.mark.parametrize(
    "text",
    [
        "Mira keeps 14 goats on a hill and sells 3 of them. How many are left?",
        "A ferry crosses a lake. The captain wonders how strong the wind was.",
        "they follow the moon alone, and rivers have none",
        "def total(values):\n    result = 0\n    for value in values:\n        result += value\n    return result\n",
        "if key in self._forgotten:\n    pass",
        "lakeside ferry",
        "",
    ],
)
def test_rows_about_the_same_things_are_not_the_item(text: str) -> None:
    assert classes([text]) == []


def test_every_row_of_many_is_named() -> None:
    rows = [[f"filler {number} and more of it"] for number in range(300)]
    rows[17], rows[211] = [SHORT.prompt], [LONG.prompt]
    assert classes(*rows) == [(18, LeakClass.VERBATIM, "short"), (212, LeakClass.VERBATIM, "long")]


def test_an_item_is_not_put_together_from_two_rows_by_accident() -> None:
    half = len(SHORT.prompt) // 2
    assert classes([SHORT.prompt[:half]], [SHORT.prompt[half:]]) == []


def test_an_operator_tells_two_short_items_apart() -> None:
    index = ProtectedIndex([ProtectedItem("less", "Count the players of the club where goals < 40, please.")], key=1)
    detector = Detector(index)
    assert detector.take(1, ["Count the players of the club where goals > 40, please."]) == []
    assert [one.leak for one in detector.finish()] == [LeakClass.TEMPLATE]
