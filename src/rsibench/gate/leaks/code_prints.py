"""Code under other names: token streams with renamed identifiers, winnowed to fingerprints.

Comments, strings' contents, white space and the names of identifiers do not count; keywords, operators and the pattern
in which names repeat do. A row is only tokenised when it looks like code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rsibench.gate.leaks.phrases import Match
from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.spec.contamination import LeakClass

_TOKEN = re.compile(
    r"(?P<skip>#[^\n]*|//[^\n]*|/\*.*?\*/)|(?P<text>'''.*?'''|\"\"\".*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<number>\d[\w.]*)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[^\s\w])",
    re.DOTALL,
)
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "def return if else elif for while in not and or class import from as with try except finally raise yield "
        "lambda break continue pass None True False function var let const new this null true false int float void "
        "char bool public private static struct fn mut impl match use print len range self",
    )
)
_SIGNS_OF_CODE = ("def ", "function", "return", "{\n", ";\n", "=>")
_GRAM = 12
_WINDOW = 4
_COMMON_ITEMS = 2
_LEAST_PRINTS = 6
_LEAST_SHARE = 0.55
_NEIGHBOURHOOD = 16


class CodeIndex:
    """Fingerprints of protected code."""

    def __init__(self, items: Sequence[ProtectedItem]) -> None:
        self._owners: dict[int, set[str]] = {}
        prints = {item.item_id: set(fingerprints(item.code)) for item in items if item.code}
        for item_id, found in prints.items():
            for one in found:
                self._owners.setdefault(one, set()).add(item_id)
        self._owners = {one: ids for one, ids in self._owners.items() if len(ids) <= _COMMON_ITEMS}
        self._totals: dict[str, int] = {}
        for ids in self._owners.values():
            for item_id in ids:
                self._totals[item_id] = self._totals.get(item_id, 0) + 1

    def search(self, text: str) -> Iterator[Match]:
        """Items most of whose fingerprints the text has."""
        if not self._owners or not any(sign in text for sign in _SIGNS_OF_CODE):
            return
        present: dict[str, int] = {}
        for one in set(fingerprints(text)) & self._owners.keys():
            for item_id in self._owners[one]:
                present[item_id] = present.get(item_id, 0) + 1
        for item_id, found in sorted(present.items()):
            share = found / self._totals[item_id]
            if (
                share >= _LEAST_SHARE
                and found >= min(_LEAST_PRINTS, self._totals[item_id])
                and self._totals[item_id] > 2
            ):
                yield Match(item_id, LeakClass.CODE, share, "code")


def fingerprints(code: str) -> list[int]:
    """Winnowed hashes of runs of tokens; a name is written as the distance to where it stood before in the run."""
    tokens = [(match.lastgroup, match.group()) for match in _TOKEN.finditer(code) if match.lastgroup != "skip"]
    kinds: list[str] = []
    seen: dict[str, int] = {}
    for place, (kind, text) in enumerate(tokens):
        if kind == "name" and text not in _KEYWORDS:
            back = place - seen[text] if text in seen else 0
            seen[text] = place
            kinds.append(f"n{back}" if back <= _NEIGHBOURHOOD else "n0")
        elif kind in ("name", "sign"):
            kinds.append(text)
        else:
            kinds.append("#" if kind == "number" else '"')
    hashes = [hash(tuple(kinds[start : start + _GRAM])) for start in range(len(kinds) - _GRAM + 1)]
    if len(hashes) <= _WINDOW:
        return hashes
    return [min(hashes[start : start + _WINDOW]) for start in range(len(hashes) - _WINDOW + 1)]
