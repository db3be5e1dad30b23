"""Starts one policy in the current folder, which must be a researcher's workspace."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rsibench.researchers.scripted.bench import Bench, LabRefused
from rsibench.researchers.scripted.policies import POLICIES


def main() -> int:
    """Run the policy; the exit code is for the log only, it never decides whether a run is valid."""
    parser = argparse.ArgumentParser(prog="scripted researcher")
    parser.add_argument("policy", choices=sorted(POLICIES))
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--message", default=None, help="given when started again after an early stop")
    arguments = parser.parse_args()
    if arguments.message:
        print(f"message: {arguments.message}", flush=True)
    try:
        POLICIES[arguments.policy](Bench(Path.cwd(), arguments.seed))
    except LabRefused as refusal:
        print(f"stopped: {refusal}", file=sys.stderr, flush=True)
        return 1
    return 0


sys.exit(main())
