"""Mutated submissions by the thousand: admitted or refused with reasons, never a crash; time and memory are printed.

python -m benchmarks.gate.fuzz [--count 10000] [--seed 1]
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.gate.items import make_set
from benchmarks.gate.transforms import TRANSFORMS

from rsibench.errors import SubmissionRefused
from rsibench.gate.files import SubmissionFiles
from rsibench.gate.leaks.detector import ProtectedIndex
from rsibench.gate.leaks.protected import ProtectedItem
from rsibench.gate.submission import GatePolicy, check_submission
from rsibench.rendering import load_renderer
from rsibench.testing.lab import DATA, HYPOTHESIS, RECIPE
from rsibench.testing.tokenizer import tiny_tokenizer

_PIECES = (
    b"NaN", b"\\ud800", b"\xff\xfe", b"\x00", b"\r\n", b"[" * 50, b'{"a":' * 20, b"<|im_start|>", b"1e999", b'"', b"}",
    b"\\", b"\xef\xbb\xbf", "\u202e\u200b".encode(), b"%41%42%43%44", b"&#65;&#66;",
    base64.b64encode(gzip.compress(b"a" * 10**6)),
)  # fmt: skip


def main() -> int:
    """Prints outcomes, the slowest submission and the peak of memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    dice = random.Random(asked.seed)
    items, _ = make_set(1, each=30, negatives=32)
    with tempfile.TemporaryDirectory() as folder:
        renderer = load_renderer("chatml", tiny_tokenizer(Path(folder)))
        policy = GatePolicy(recipe=RECIPE, data=DATA, renderer=renderer, protected=ProtectedIndex(items))
        outcomes: Counter[str] = Counter()
        slowest = 0.0
        for _ in range(asked.count):
            started = time.perf_counter()
            outcomes[_outcome(mutated(dice, items), policy)] += 1
            slowest = max(slowest, time.perf_counter() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{asked.count} submissions: {dict(outcomes)}; slowest {slowest:.2f} s; peak memory {peak:.0f} MB")
    return 0


def mutated(dice: random.Random, items: list[ProtectedItem]) -> bytes:
    """Rows with an item now and then, and with bytes of them cut, doubled, flipped or replaced."""
    lines = []
    for _ in range(dice.randint(1, 4)):
        texts = dice.choice(list(TRANSFORMS.values()))(dice.choice(items), dice) if dice.random() < 0.5 else None
        text = "\n".join(texts)[:3000] if texts else "an ordinary question"
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "yes"}]
        lines.append(json.dumps({"messages": messages}, ensure_ascii=dice.random() < 0.5).encode())
    data = bytearray(b"\n".join(lines))
    for _ in range(dice.randint(0, 4)):
        place = dice.randrange(len(data) + 1)
        length = dice.choice((0, 0, 1, 7, 60))
        data[place : place + length] = dice.choice((dice.choice(_PIECES), bytes([dice.randrange(256)]), b""))
    return bytes(data)


def _outcome(rows: bytes, policy: GatePolicy) -> str:
    try:
        check_submission(SubmissionFiles(rows, None, HYPOTHESIS), policy)
    except SubmissionRefused as refused:
        return "refused for a leak" if any(code.startswith("leak") for code in refused.counts) else "refused for form"
    return "admitted"


if __name__ == "__main__":
    sys.exit(main())
