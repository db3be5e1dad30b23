"""The docker provider as far as it can be seen without a daemon: its command line, and what it says of a lack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rsibench.errors import EnvironmentFault, SpecError
from rsibench.ports.sandbox import SandboxLimits
from rsibench.sandbox.choose import choose_provider, provider, survey
from rsibench.sandbox.docker.arguments import run_arguments
from rsibench.sandbox.docker.provider import DockerProvider
from rsibench.testing.sandbox import SandboxBench

LIMITS = SandboxLimits(memory_bytes=111, processes=22, scratch_bytes=333, file_bytes=444, open_files=55, cpus=1.5)


def arguments() -> list[str]:
    shown = [(Path("/h/evidence"), "/workspace/evidence")]
    return run_arguments("n", "image:1", 5801, Path("/h/w"), Path("/h/home"), shown, LIMITS)


def values(option: str) -> list[str]:
    given = arguments()
    return [given[at + 1] for at, word in enumerate(given) if word == option]


def test_a_container_has_no_network_no_capability_and_every_limit() -> None:
    expected = {
        "--network": ["none"],
        "--cap-drop": ["ALL"],
        "--security-opt": ["no-new-privileges"],
        "--user": ["5801:5801"],
        "--pids-limit": ["22"],
        "--memory": ["111"],
        "--memory-swap": ["111"],
        "--cpus": ["1.5"],
        "--pull": ["never"],
    }
    assert {option: values(option) for option in expected} == expected
    assert "--read-only" in arguments()
    assert "--privileged" not in arguments()
    assert "fsize=444" in values("--ulimit")


def test_only_workspace_and_home_can_be_written() -> None:
    mounts = [dict(part.partition("=")[::2] for part in mount.split(",")) for mount in values("--mount")]
    writable = {mount["target"] for mount in mounts if "readonly" not in mount}
    assert writable == {"/workspace", "/home/agent"}
    assert [mount["source"] for mount in mounts if "readonly" in mount] == ["/h/evidence"]


def test_the_image_comes_after_all_options_and_the_first_program_after_it() -> None:
    given = arguments()
    assert given[given.index("image:1") - 2 : given.index("image:1")] == ["--entrypoint", "python3"]
    assert given[-1] == "/run/control.sock"


def program(folder: Path, script: str) -> Path:
    path = folder / "docker"
    path.write_text("#!/bin/sh\n" + script, encoding="ascii")
    path.chmod(0o755)
    return path


def test_each_lack_is_told_with_what_to_do(tmp_path: Path) -> None:
    nobody = DockerProvider(program=program(tmp_path, "exit 1")).probe()
    assert (nobody.available, "daemon" in nobody.why) == (False, True)
    no_image = DockerProvider(program=program(tmp_path, 'test "$1" = version')).probe()
    assert (no_image.available, "docker pull" in no_image.why) == (False, True)


def test_a_container_that_does_not_start_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    docker = program(tmp_path, f'echo "$@" >> {asked}; echo no such thing >&2; exit 125')
    bench = SandboxBench(DockerProvider(program=docker), tmp_path / "run")
    with pytest.raises(EnvironmentFault, match="did not start"):
        bench.shell("true")
    assert "no such thing" in bench.log.read_text("utf-8")
    first, last = asked.read_text("utf-8").splitlines()[0], asked.read_text("utf-8").splitlines()[-1]
    assert first.startswith("run --rm --name rsibench-")
    assert last.startswith("rm --force rsibench-"), "also what was perhaps started is removed"


def test_a_path_that_docker_cannot_mount_is_refused(tmp_path: Path) -> None:
    bench = SandboxBench(DockerProvider(program=program(tmp_path, "exit 0")), tmp_path / "run")
    (tmp_path / "a,b").mkdir()
    bench.spec = replace(bench.spec, read_only=((tmp_path / "a,b", "/workspace/x"),))
    with pytest.raises(EnvironmentFault, match="comma"):
        bench.shell("true")


def test_providers_by_name() -> None:
    assert [probe.provider for probe in survey()] == ["bubblewrap", "docker"]
    with pytest.raises(SpecError, match="bubblewrap, docker"):
        provider("chroot")


def test_a_named_provider_that_does_not_isolate_is_an_error_with_the_reason() -> None:
    if provider("docker").probe().available:
        pytest.skip("docker works here")
    with pytest.raises(EnvironmentFault, match="--unisolated"):
        choose_provider("docker")
