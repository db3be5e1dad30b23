"""How often the gate is right: precision, recall and F1 a transform, with Wilson intervals, on a made-up set.

    python -m benchmarks.gate.accuracy [--seed 2] [--semantic] [--real FOLDER] [--json FILE]

Thresholds were chosen on seed 1; report another. `--real` also takes AIME and SWE items from a folder (nothing of
them is printed or kept). A false alarm is any finding of a class in a row that holds none of the items.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path

from benchmarks.gate.items import make_set, real_items
from benchmarks.gate.transforms import TRANSFORMS

from rsibench.evaluation.intervals import wilson
from rsibench.gate.leaks.detector import Detector, ProtectedIndex
from rsibench.gate.leaks.findings import Finding
from rsibench.gate.semantic.encoder import static_encoder
from rsibench.gate.semantic.stage import STATIC_THRESHOLD, SemanticStage

PER_TRANSFORM = 250


def scan(index: ProtectedIndex, rows: list[list[str]]) -> list[Finding]:
    """Findings of rows numbered from 0."""
    detector = Detector(index)
    found = [finding for number, row in enumerate(rows) for finding in detector.take(number, row)]
    return found + detector.finish()


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--semantic", action="store_true")
    parser.add_argument("--threshold", type=float, default=STATIC_THRESHOLD)
    parser.add_argument("--real", type=Path)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    items, negatives = make_set(asked.seed, each=60, negatives=4000)
    if asked.real:
        items = [*items, *real_items(asked.real)]
    semantic = SemanticStage(items, static_encoder(), asked.threshold) if asked.semantic else None
    index = ProtectedIndex(items, key=asked.seed, semantic=semantic)
    alarms = scan(index, negatives)
    alarmed = Counter(finding.leak.value for finding in alarms if not _pocket_template(finding))
    rows_alarmed = len({finding.row for finding in alarms if not _pocket_template(finding)})
    low, high = wilson(rows_alarmed / len(negatives), len(negatives))
    print(
        f"{len(items)} items, {len(negatives)} negatives: {rows_alarmed} rows with a false alarm "
        f"({rows_alarmed / len(negatives):.3%}, {low:.3%} to {high:.3%}) {dict(alarmed)}"
    )
    print(f"{'transform':32} {'n':>5} {'recall':>22} {'precision':>9} {'F1':>6}  classes")
    told = {"items": len(items), "negatives": len(negatives), "false_rows": rows_alarmed, "transforms": {}}
    for name, transform in TRANSFORMS.items():
        dice = random.Random(f"{asked.seed} {name}")
        rows: list[list[str]] = []
        wanted: list[str] = []
        for place in range(40 * PER_TRANSFORM):
            item = items[place % len(items)] if place < len(items) else dice.choice(items)
            row = transform(item, dice)
            if row is not None:
                rows.append(row)
                wanted.append(item.item_id)
            if (len(rows) == max(PER_TRANSFORM, 0) and place >= len(items) - 1) or len(rows) >= 2 * PER_TRANSFORM:
                break
        found = scan(index, rows)
        own: dict[int, Finding] = {}
        for finding in found:
            if finding.item_id == wanted[finding.row] or finding.item_id in ("a run of answers",):
                own.setdefault(finding.row, finding)
        classes = Counter(finding.leak.value for finding in own.values())
        false = sum(count for leak, count in alarmed.items() if leak in classes)
        hits = len(own)
        recall = hits / len(rows)
        low, high = wilson(recall, len(rows))
        precision = hits / (hits + false) if hits else 0.0
        f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
        shown = ", ".join(f"{leak} {count}" for leak, count in classes.most_common())
        print(f"{name:32} {len(rows):5} {recall:7.3f} ({low:.3f}-{high:.3f}) {precision:9.3f} {f1:6.3f}  {shown}")
        told["transforms"][name] = {
            "n": len(rows),
            "recall": recall,
            "low": low,
            "high": high,
            "f1": f1,
            "precision": precision,
        }
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    return 0


def _pocket_template(finding: Finding) -> bool:
    """Rows of the public kit share the items' wordings, and the pocket profile allows that."""
    return finding.leak.value in ("template", "paraphrase") and finding.item_id.startswith("pocket/")


if __name__ == "__main__":
    sys.exit(main())
