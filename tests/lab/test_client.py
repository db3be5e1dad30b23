"""The `lab` command against a served lab: what it prints, what its exit codes mean, and that it may be repeated."""

from __future__ import annotations

import ast
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rsibench.lab.client import lab as client
from rsibench.lab.http.server import LabServer
from rsibench.ports.clock import SystemClock
from rsibench.testing.lab import DATA, HYPOTHESIS, LabBench, bench_row

PROGRAM = Path(client.__file__)


class Ran(NamedTuple):
    """What a command printed and ended with."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Desk:
    """A workspace whose lab is served."""

    def __init__(self, bench: LabBench, address: str, workspace: Path) -> None:
        self.bench = bench
        self.address = address
        self.workspace = workspace

    def write(self, *texts: str, config: str | None = None) -> None:
        rows = "".join(json.dumps(bench_row(text)) + "\n" for text in texts)
        (self.workspace / "train_messages.jsonl").write_text(rows, encoding="utf-8")
        (self.workspace / "hypothesis.md").write_bytes(HYPOTHESIS)
        if config is not None:
            (self.workspace / "run_config.json").write_text(config, encoding="utf-8")

    def lab(self, *arguments: str) -> Ran:
        """Runs the command as a researcher would: a process of its own, without any installed package."""
        argv = [sys.executable, "-I", "-S", str(PROGRAM), *arguments]
        environment = {client.VARIABLE: self.address, "PATH": os.defpath}
        done = subprocess.run(argv, cwd=self.workspace, env=environment, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with LabBench(tmp_path, clock=SystemClock()) as bench, LabServer.on_socket(bench.session, tmp_path / "s") as server:
        yield Desk(bench, server.address, workspace)


def test_the_program_is_one_file_of_python_3_9_and_its_standard_library() -> None:
    tree = ast.parse(PROGRAM.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= sys.stdlib_module_names


def test_submit_wait_feedback_select(desk: Desk) -> None:
    desk.write("one", config='{"epochs": 2}')
    assert desk.lab("submit", "--json").json["attempt"] == 1
    desk.bench.finish_next(5)
    waited = desk.lab("submit", "--wait", "--json")
    assert (waited.code, waited.json["stage"], waited.json["submission"]) == (0, "scored", 1)
    assert desk.lab("wait", "1").code == 0
    assert desk.lab("feedback", "1", "--json").json["feedback"]["score"]["passed"] == 5
    assert "5 of 8" in desk.lab("feedback", "1").out
    assert desk.lab("select", "1").code == 0
    assert "committed" in desk.lab("select", "1", "--final").out
    assert "attempt 1, committed" in desk.lab("status").out
    assert len(desk.bench.state().submissions) == 1


def test_every_answer_for_people_tells_what_is_left(desk: Desk) -> None:
    desk.write("one")
    for arguments in (("status",), ("submit",), ("wait", "1", "--timeout", "0"), ("select", "none"), ("feedback", "0")):
        assert "left: " in desk.lab(*arguments).out
    assert "left: " in desk.lab("wait", "9").err


def test_not_yet_over_is_exit_code_8(desk: Desk) -> None:
    desk.write("one")
    waited = desk.lab("submit", "--wait", "--timeout", "0", "--json")
    assert (waited.code, waited.json["finished"]) == (8, False)


def test_a_failed_attempt_is_exit_code_7(desk: Desk) -> None:
    desk.write("one")
    desk.lab("submit")
    desk.bench.session.failed(1, failure="out_of_memory", detail="killed")
    waited = desk.lab("wait", "1")
    assert waited.code == 7
    assert "out_of_memory" in waited.out


def test_a_refusal_is_exit_code_6_with_every_reason(desk: Desk) -> None:
    desk.write("one", config='{"epochs": "two", "rank": 3}')
    refused = desk.lab("submit")
    assert refused.code == 6
    assert "wrong-type" in refused.err
    assert "unknown-key" in refused.err
    told = desk.lab("submit", "--json")
    assert (told.code, told.json["error"]["counts"]) == (6, {"wrong-type": 1, "unknown-key": 1})


def test_a_file_beyond_the_limit_is_refused_although_it_is_not_read(desk: Desk) -> None:
    desk.write("one")
    (desk.workspace / "train_messages.jsonl").write_bytes(b"x" * (8 * DATA.max_file_bytes))
    refused = desk.lab("submit")
    assert refused.code == 6
    assert "file-too-large" in refused.err


def test_a_refusal_before_the_body_is_read_arrives_over_tcp_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, hypothesis = tmp_path / "rows.jsonl", tmp_path / "h.md"
    rows.write_bytes(b"x" * (50 * DATA.max_file_bytes))
    hypothesis.write_bytes(HYPOTHESIS)
    with LabBench(tmp_path, clock=SystemClock()) as bench, LabServer.on_loopback(bench.session) as server:
        files = ["--rows", str(rows), "--hypothesis", str(hypothesis)]
        assert client.main(["submit", *files, "--socket", server.address]) == 6
    assert "file-too-large" in capsys.readouterr().err


def test_what_does_not_fit_the_moment_is_exit_code_8(desk: Desk) -> None:
    desk.write("one")
    desk.lab("select", "none", "--final")
    for arguments in (("submit",), ("select", "none")):
        assert desk.lab(*arguments).code == 8


def test_wrong_usage_is_exit_code_2(desk: Desk) -> None:
    for arguments in (
        (),
        ("dance",),
        ("wait", "two"),
        ("wait", "9"),
        ("select", "-1"),
        ("submit", "--rows", "nowhere"),
    ):
        assert desk.lab(*arguments).code == 2


def test_a_given_configuration_must_exist_and_an_absent_default_need_not(desk: Desk) -> None:
    desk.write("one")
    assert desk.lab("submit", "--config", "other.json").code == 2
    assert desk.lab("submit").code == 0


def test_a_dangling_link_as_configuration_is_not_taken_for_none(desk: Desk) -> None:
    desk.write("one")
    (desk.workspace / "run_config.json").symlink_to("nowhere")
    refused = desk.lab("submit")
    assert refused.code == 2
    assert "symbolic link" in refused.err


def test_the_key_depends_on_every_file(desk: Desk) -> None:
    desk.write("one")
    desk.lab("submit")
    (desk.workspace / "hypothesis.md").write_text("another idea", encoding="utf-8")
    replicated = desk.lab("submit", "--json").json
    assert (replicated["submission"], replicated["outcome"]) == (2, "replicated")


def test_a_given_key_may_not_be_used_for_other_files(desk: Desk) -> None:
    desk.write("one")
    assert desk.lab("submit", "--key", "mine").code == 0
    desk.write("two")
    refused = desk.lab("submit", "--key", "mine", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (8, "key-reused")


def test_no_lab_is_exit_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert client.main(["status", "--socket", str(tmp_path / "none")]) == 3
    assert str(tmp_path / "none") in capsys.readouterr().err


def test_a_dropped_connection_is_tried_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.dumps({"finished": True, "stage": "scored", "left": None}).encode()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()

        def serve() -> None:
            for drops in (True, True, False):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65_536)
                    if not drops:
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(answer), answer))

        server = threading.Thread(target=serve)
        server.start()
        code = client.main(["wait", "1", "--json", "--socket", str(tmp_path / "s")])
        server.join(30)
    assert code == 0
    assert json.loads(capsys.readouterr().out)["stage"] == "scored"


def test_a_students_output_cannot_steer_the_terminal() -> None:
    shown = client.printable("\x1b[2Jred\x07 \u202e\nnext é")
    assert shown.isprintable()
    assert "é" in shown
    assert "\\x1b" in shown
