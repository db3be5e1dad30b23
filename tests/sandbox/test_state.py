"""Folders of sandboxes: nobody gets one that is held, and what nobody holds is removed with what runs in it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault
from rsibench.sandbox import state
from rsibench.sandbox.warden.cgroups import CgroupLimits, make


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sandboxes").mkdir()
    return tmp_path / "sandboxes"


def test_living_sandboxes_share_no_folder_and_no_user(root: Path) -> None:
    claims = [state.claim(root) for _ in range(5)]
    assert len({claim.folder for claim in claims}) == 5
    uids = {claim.uid for claim in claims}
    assert len(uids) == 5 if os.getuid() == 0 else uids == {None}
    for claim in claims:
        os.close(claim.lock)


def test_what_is_held_stays_and_what_is_not_goes(root: Path) -> None:
    held, left = state.claim(root), state.claim(root)
    os.close(left.lock)
    assert len(state.reap(root)) == 1
    assert list(root.iterdir()) == [held.folder]
    os.close(held.lock)
    state.reap(root)
    assert list(root.iterdir()) == []


def test_a_lock_lasts_as_long_as_any_process_holds_it(root: Path) -> None:
    claim = state.claim(root)
    with subprocess.Popen(["/bin/sh", "-c", "read w"], stdin=subprocess.PIPE, pass_fds=[claim.lock]) as holder:
        os.close(claim.lock)
        assert state.reap(root) == []
        assert holder.stdin is not None
        holder.stdin.close()
    assert len(state.reap(root)) == 1


def test_a_process_left_in_a_cgroup_is_killed(root: Path) -> None:
    made = make(f"rsibench-test-{os.getpid()}", CgroupLimits(64 << 20, 10, None))
    if made is None:
        pytest.skip("this user can make no cgroup here")
    cgroup, _ = made
    claim = state.claim(root)
    state.record_cgroup(claim.folder, cgroup)
    joining = (
        "import os, sys\nfor path in sys.argv[1:]: open(path + '/cgroup.procs', 'w').write('0')\nprint(1, flush=True)"
    )
    argv = [sys.executable, "-c", f"{joining}\nimport signal; signal.pause()", *map(str, cgroup.folders)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as left:
        assert left.stdout is not None
        assert left.stdout.readline() == b"1\n"
        os.close(claim.lock)
        assert len(state.reap(root)) == 1
        assert left.wait(10) == -9
    assert not any(folder.exists() for folder in cgroup.folders)


def test_the_folder_of_all_is_the_users_own(tmp_path: Path) -> None:
    found = state.state_root(tmp_path)
    assert found.parent == tmp_path
    assert stat.S_IMODE(found.stat().st_mode) == 0o711
    assert state.state_root(tmp_path) == found
    found.rmdir()
    (tmp_path / "elsewhere").mkdir()
    found.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EnvironmentFault):
        state.state_root(tmp_path)


def test_a_folder_that_others_may_write_is_refused(tmp_path: Path) -> None:
    state.state_root(tmp_path).chmod(0o777)
    with pytest.raises(EnvironmentFault):
        state.state_root(tmp_path)


def test_it_lies_in_the_systems_scratch_folder() -> None:
    assert state.state_root().parent == Path(tempfile.gettempdir())
