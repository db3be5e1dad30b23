"""`kill -9` of the controller before each commit of a run: it ends as if nothing had happened, charged once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.chaos

_PROGRAM = """
import json, sys
from pathlib import Path
from rsibench.testing.killing import cut_and_continue

root, commit = Path(sys.argv[1]), 0
while True:
    commit += 1
    cut = cut_and_continue(root / str(commit), "one-shot", commit)
    facts = [commit, cut.killed, cut.trainings, cut.problems, cut.result.model_dump(mode="json")]
    print(json.dumps(facts), flush=True)
    if not cut.killed:
        break
"""


@pytest.mark.timeout(600)
def test_wherever_a_run_is_cut_it_ends_the_same(tmp_path: Path) -> None:
    """The controller is forked, which needs a process without threads; the last round is the undisturbed run."""
    argv = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
    done = subprocess.run(argv, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    *cut, (commits, killed, trainings, problems, undisturbed) = rounds
    assert not killed
    assert (trainings, problems) == (1, [])
    assert commits > 20
    for commit, was_killed, trained, found, result in cut:
        assert was_killed, commit
        assert result == undisturbed, commit
        assert found == [], commit
        # A training that ended but was not recorded is done once more; nothing else is ever trained again.
        assert trained in (1, 2), commit
    assert sum(trained - 1 for _, _, trained, _, _ in cut) <= 2
