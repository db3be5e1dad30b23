"""Control groups: limits are written where kernels of either version look for them; here, in folder trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsibench.sandbox.warden.cgroups import Cgroup, CgroupLimits, make

LIMITS = CgroupLimits(memory_bytes=1 << 30, processes=99, cpus=1.5)


def process(folder: Path, mounts: str, cgroups: str) -> Path:
    """What /proc/self says."""
    folder.mkdir()
    (folder / "mountinfo").write_text(mounts, encoding="ascii")
    (folder / "cgroup").write_text(cgroups, encoding="ascii")
    return folder


def test_version_2_has_one_folder_below_the_own_one(tmp_path: Path) -> None:
    (tmp_path / "fs" / "job").mkdir(parents=True)
    mounts = f"35 24 0:30 / {tmp_path}/fs rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
    made = make("one", LIMITS, process(tmp_path / "proc", mounts, "0::/job\n"))
    folder = tmp_path / "fs" / "job" / "one"
    assert made == (Cgroup((folder,)), "cgroup v2")
    written = {path.name: path.read_text("ascii") for path in folder.iterdir()}
    assert written == {
        "memory.max": str(1 << 30),
        "memory.swap.max": "0",
        "pids.max": "99",
        "cpu.max": "150000 100000",
    }
    assert (folder.parent / "cgroup.subtree_control").read_text("ascii") == "+memory +pids +cpu"


def test_version_1_has_one_folder_a_controller(tmp_path: Path) -> None:
    for name in ("memory/job", "pids", "cpu,cpuacct"):
        (tmp_path / "fs" / name).mkdir(parents=True)
    mounts = "".join(
        f"3{at} 24 0:30 / {tmp_path}/fs/{name} rw - cgroup cgroup rw,{name}\n"
        for at, name in enumerate(("memory", "pids", "cpu,cpuacct"))
    )
    own = process(tmp_path / "proc", mounts, "4:memory:/job\n3:pids:/\n2:cpu,cpuacct:/gone\n0::/\n")
    made = make("one", LIMITS, own)
    assert made is not None
    assert made[1] == "cgroup v1"
    memory, pids, cpu = (tmp_path / "fs" / name / "one" for name in ("memory/job", "pids", "cpu,cpuacct"))
    assert set(made[0].folders) == {memory, pids, cpu}
    assert (memory / "memory.limit_in_bytes").read_text("ascii") == str(1 << 30)
    assert (pids / "pids.max").read_text("ascii") == "99"
    assert (cpu / "cpu.cfs_quota_us").read_text("ascii") == "150000"


@pytest.mark.parametrize("mounts", ["", "35 24 0:30 / /no/such/folder rw - cgroup2 cgroup2 rw\n"])
def test_where_none_can_be_made_there_is_none(tmp_path: Path, mounts: str) -> None:
    assert make("one", LIMITS, process(tmp_path / "proc", mounts, "0::/\n")) is None


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n"),
        ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"),
    ],
)
def test_kills_are_counted_in_either_version(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text, encoding="ascii")
    assert Cgroup((tmp_path,)).memory_kills() == 2
