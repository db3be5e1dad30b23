"""The kit's command. `kit.py list` shows families and styles, `kit.py rows` prints training rows as JSON lines."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    sys.path.insert(0, str(_HERE.parent))
    catalogue = importlib.import_module(f"{_HERE.name}.catalogue")
    rows = importlib.import_module(f"{_HERE.name}.rows")
    parser = argparse.ArgumentParser(prog="kit.py", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="families, templates and styles")
    make = commands.add_parser("rows", help="training rows, one JSON object a line")
    make.add_argument("--family", action="append", choices=[*catalogue.FAMILIES, "all"], required=True)
    make.add_argument("--style", choices=list(rows.STYLES), required=True)
    make.add_argument("--count", type=int, required=True, help="rows of each family")
    make.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.command == "list":
        for family in catalogue.FAMILIES.values():
            print(f"{family.name:10} {family.grader:8} {family.about}; templates: {', '.join(family.templates)}")
        for style, about in rows.STYLES.items():
            print(f"style {style:8} {about}")
        return 0
    names = list(catalogue.FAMILIES) if "all" in options.family else list(dict.fromkeys(options.family))
    for row in rows.make_rows(names, options.style, options.count, options.seed):
        print(json.dumps(row, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
