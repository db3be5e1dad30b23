"""How fast the gate searches rows, against two peers in the same run on the same rows, on one core.

    python -m benchmarks.gate.throughput [--megabytes 20]

Peers: a pure-Python scan for shared runs of 13 words, and MinHash signatures by rensa (which compare whole rows and so
cannot find an item inside one). Prints megabytes a second and the ratios.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Callable

from benchmarks.gate import pools
from benchmarks.gate.items import make_set

from rsibench.gate.leaks.detector import Detector, ProtectedIndex
from rsibench.gate.leaks.protected import ProtectedItem

_WORDS_A_ROW = 330


def main() -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=20)
    megabytes = parser.parse_args().megabytes
    items, _ = make_set(1, each=60, negatives=32)
    rows = _rows(megabytes * 1_000_000)
    size = sum(len(row) for row in rows)
    print(f"{len(items)} items, {len(rows)} rows, {size / 1e6:.1f} MB")
    index = ProtectedIndex(items)
    ours = _timed("gate, without the semantic stage", size, lambda: _gate(index, rows))
    python = _timed("pure-Python 13-gram scan", size, lambda: _python(items, rows))
    minhash = _timed("rensa, 128 permutations", size, lambda: _rensa(rows))
    print(f"gate / pure Python = {ours / python:.1f}, gate / rensa = {ours / minhash:.1f}")
    return 0


def _rows(size: int) -> list[str]:
    dice = random.Random(7)
    vocabulary = ["".join(dice.choices(pools.SYLLABLES, k=dice.randint(1, 3))) for _ in range(8000)]
    weights = [1 / (place + 3) for place in range(len(vocabulary))]
    rows: list[str] = []
    while size > 0:
        words = dice.choices(vocabulary, weights, k=_WORDS_A_ROW)
        text = " ".join(f"{word.title()}," if place % 9 == 0 else word for place, word in enumerate(words))
        rows.append(f"{text} {dice.randint(1, 999)} = {dice.randint(1, 99)}.\n")
        size -= len(rows[-1])
    return rows


def _gate(index: ProtectedIndex, rows: list[str]) -> int:
    detector = Detector(index)
    return sum(len(detector.take(number, [row])) for number, row in enumerate(rows)) + len(detector.finish())


def _python(items: list[ProtectedItem], rows: list[str]) -> int:
    known = {run for item in items for run in _runs(item.prompt)}
    return sum(not known.isdisjoint(_runs(row)) for row in rows)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[start : start + 13]) for start in range(len(words) - 12)}


def _rensa(rows: list[str]) -> int:
    from rensa import RMinHash  # noqa: PLC0415 - a peer, for development only

    for row in rows:
        sketch = RMinHash(num_perm=128, seed=1)
        sketch.update(row.split())
        sketch.digest()
    return len(rows)


def _timed(name: str, size: int, work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    rate = size / 1e6 / (time.process_time() - started)
    print(f"{name:36} {rate:7.1f} MB/s")
    return rate


if __name__ == "__main__":
    sys.exit(main())
