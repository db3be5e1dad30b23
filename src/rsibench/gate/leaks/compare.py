"""Deciding about one candidate: is this text in these words, and how was it changed?

The item is looked for in the row (containment), never the other way round, so that what surrounds it does not count.
Short items are told apart by single words, so nothing of them may be missing but spelling; long ones may lose a part.
Numbers decide between the item and its template: they are compared in order in short texts, as a multiset in long ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from rsibench.spec.contamination import LeakClass

SHORT_WORDS = 40
_LONG_WORDS = 400
_MOST_PAIRS = 20_000
_NEAR_SHARE = 0.8
_SIGN = re.compile(r"[<>=*/^+]")
_TEMPLATE_SHARE = 0.85
_LEAST_NUMBERS = 3
_TELLING_LENGTH, _LEAST_TELLING = 4, 8
_NUMBERED_SHARE, _UNNUMBERED_SHARE = 0.5, 0.72
_TYPO_LENGTH, _TWO_TYPOS_LENGTH = 4, 8


class Judgement(NamedTuple):
    """A class and how much of the item was found, from 0 to 1."""

    leak: LeakClass
    share: float


def judge(item: Sequence[str], window: Sequence[str], signs: tuple[str, str] = ("", "")) -> Judgement | None:
    """How `window` (words of a row) holds `item` (words of a protected text); None when it does not.

    `signs` are the mathematical signs of both: in a short item another sign is another problem, like another number.
    """
    if not item:
        return None
    same_signs = len(item) > SHORT_WORDS or Counter(signs[0]) <= Counter(signs[1])
    if " ".join(item) in " ".join(window):
        return Judgement(LeakClass.VERBATIM if same_signs else LeakClass.TEMPLATE, 1.0)
    found = _aligned(item, window)
    if not same_signs:
        found = found._replace(numbers_changed=found.numbers_changed + 1, exact=found.exact - 1)
    share = found.exact / len(item)
    loose = (found.exact + found.typos + found.numbers_changed) / len(item)
    if len(item) <= SHORT_WORDS:
        return _judge_short(item, found, loose) or _reworded(item, window)
    numbers_kept = not found.numbers_changed and _contains_numbers(item, window)
    if numbers_kept and share + found.typos / len(item) >= _NEAR_SHARE:
        return Judgement(LeakClass.NEAR, share)
    if loose >= _TEMPLATE_SHARE:
        kind = LeakClass.NEAR if found.numbers_changed == 0 else LeakClass.TEMPLATE
        return Judgement(kind, loose)
    return _reworded(item, window)


def _reworded(item: Sequence[str], window: Sequence[str]) -> Judgement | None:
    """Whether the item's telling words are there in any order, and all of its numbers with them."""
    if not _contains_numbers(item, window):
        return None
    telling = Counter(word for word in item if len(word) >= _TELLING_LENGTH and not _is_number(word))
    if telling.total() < _LEAST_TELLING:
        return None
    share = (telling & Counter(window)).total() / telling.total()
    numbered = len(_numbers(item)) >= _LEAST_NUMBERS
    if share >= (_NUMBERED_SHARE if numbered else _UNNUMBERED_SHARE):
        return Judgement(LeakClass.PARAPHRASE, share)
    return None


def _judge_short(item: Sequence[str], found: _Alignment, loose: float) -> Judgement | None:
    missing = len(item) - found.exact - found.typos - found.numbers_changed
    if missing == 0 and found.numbers_changed == 0:
        return Judgement(LeakClass.NEAR, loose)
    if loose >= _TEMPLATE_SHARE:
        return Judgement(LeakClass.TEMPLATE, loose)
    return None


class _Alignment(NamedTuple):
    """Words of the item by how they were found in order: as they are, misspelt, as another number."""

    exact: int
    typos: int
    numbers_changed: int


def _aligned(item: Sequence[str], window: Sequence[str]) -> _Alignment:
    if len(item) > _LONG_WORDS or _pairs(item, window) > _MOST_PAIRS:
        return _counted(item, window)
    exact = typos = changed = 0
    matcher = SequenceMatcher(None, item, window, autojunk=False)
    for tag, low, high, left, right in matcher.get_opcodes():
        if tag == "equal":
            exact += high - low
        elif tag == "replace" and "".join(item[low:high]) == "".join(window[left:right]):
            exact += high - low  # the same letters, with other spaces between them
        elif tag == "replace":
            for mine, other in _paired(item[low:high], window[left:right]):
                if _is_number(mine) and _is_number(other):
                    changed += mine != other
                    exact += mine == other
                elif misspelt(mine, other):
                    typos += 1
    return _Alignment(exact, typos, changed)


def _pairs(item: Sequence[str], window: Sequence[str]) -> int:
    """How many pairs of equal words there are; what an alignment costs grows with it, whatever a row was made for."""
    theirs = Counter(window)
    return sum(theirs[word] for word in item)


def _paired(mine: Sequence[str], other: Sequence[str]) -> list[tuple[str, str]]:
    """Words at the same place from the start; long differences are not worth pairing."""
    return list(zip(mine, other, strict=False)) if len(other) <= len(mine) + 2 else []


def _counted(item: Sequence[str], window: Sequence[str]) -> _Alignment:
    """For long texts: runs of five words of the item that the window has, in any order."""
    size = 5
    mine = [tuple(item[start : start + size]) for start in range(len(item) - size + 1)]
    theirs = {tuple(window[start : start + size]) for start in range(len(window) - size + 1)}
    covered = bytearray(len(item))
    for start, run in enumerate(mine):
        if run in theirs:
            covered[start : start + size] = b"\x01" * size
    return _Alignment(sum(covered), 0, 0)


def signs_of(text: str) -> str:
    """The mathematical signs of a text, in order."""
    return "".join(_SIGN.findall(text))


def misspelt(word: str, other: str) -> bool:
    """Whether two different words are one or, when long, two letters apart. Never for numbers."""
    if abs(len(word) - len(other)) > 2 or min(len(word), len(other)) < _TYPO_LENGTH or _is_number(word):
        return False
    allowed = 2 if len(word) >= _TWO_TYPOS_LENGTH else 1
    return _distance(word, other, allowed) <= allowed


def _distance(left: str, right: str, limit: int) -> int:
    """Edits, insertions, deletions and swaps of neighbours between two words; more than `limit` is not exact."""
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, mine in enumerate(left, start=1):
        current = [row]
        for column, other in enumerate(right, start=1):
            cost = min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (mine != other))
            if row > 1 and column > 1 and mine == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return previous[-1]


def _numbers(words: Sequence[str]) -> Counter[str]:
    return Counter(word for word in words if _is_number(word))


def _contains_numbers(item: Sequence[str], window: Sequence[str]) -> bool:
    return _numbers(item) <= _numbers(window)


def _is_number(word: str) -> bool:
    return word[0].isdigit()
