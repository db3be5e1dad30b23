"""Malformed submissions, one trick each: refused over HTTP with a precise reason, no traceback, not a cent spent."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rsibench.errors import SubmissionRefused
from rsibench.gate.files import SubmissionFiles
from rsibench.gate.submission import check_submission
from rsibench.lab.client import lab as client
from rsibench.lab.http.server import LabServer
from rsibench.ports.clock import SystemClock
from rsibench.testing.lab import DATA, HYPOTHESIS, RECIPE, LabBench, bench_row

GOOD = json.dumps(bench_row("fine")).encode() + b"\n"


class Case(NamedTuple):
    """A submission, and one problem that must be among the reasons: its code, row and a part of its field."""

    name: str
    rows: bytes
    code: str
    row: int | None = 1
    field: str | None = None
    config: bytes | None = None
    hypothesis: bytes | None = HYPOTHESIS


def messages(*turns: tuple[str, Any], **extra: Any) -> bytes:
    row = {"messages": [{"role": role, "content": content} for role, content in turns], **extra}
    return json.dumps(row).encode() + b"\n"


def raw(*members: Any, **extra: Any) -> bytes:
    return json.dumps({"messages": list(members), **extra}).encode() + b"\n"


def config(text: str, code: str, field: str | None = None) -> Case:
    return Case(f"config {text[:24]!r}", GOOD, code, None, field, text.encode())


USER: dict[str, Any] = {"role": "user", "content": "q"}
ANSWER: dict[str, Any] = {"role": "assistant", "content": "a"}
CALL: dict[str, Any] = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLING: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [CALL]}
RESULT: dict[str, Any] = {"role": "tool", "content": "r", "tool_call_id": "c1"}


def calling(arguments: str) -> dict[str, Any]:
    call = {**CALL, "function": {"name": "f", "arguments": arguments}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


FILES = [
    Case("empty file", b"", "file-empty", None),
    Case("file too large", b"x" * (DATA.max_file_bytes + 1), "file-too-large", None),
    Case("not UTF-8", b"\xff\xfe" + GOOD, "not-utf8"),
    Case("UTF-16", GOOD.decode().encode("utf-16"), "not-utf8"),
    Case("raw surrogate bytes", GOOD.replace(b"fine", b"\xed\xa0\x80", 1), "not-utf8"),
    Case("overlong UTF-8", GOOD.replace(b"fine", b"\xc0\xaf", 1), "not-utf8"),
    Case("byte order mark", b"\xef\xbb\xbf" + GOOD, "byte-order-mark"),
    Case("raw NUL", GOOD.replace(b"fine", b"fi\x00ne", 1), "nul"),
    Case("escaped NUL", GOOD.replace(b"fine", b"fi\\u0000ne", 1), "nul", field="messages[0].content"),
    Case("Windows line ends", GOOD + GOOD.replace(b"\n", b"\r\n"), "carriage-return", 2),
    Case("old Macintosh line ends", GOOD.replace(b"\n", b"\r") * 2, "carriage-return"),
    Case("blank line between", GOOD + b"\n" + GOOD, "blank-line", 2),
    Case("only spaces", b"   \n", "blank-line"),
    Case("line too long", GOOD + b"[" * (DATA.max_line_bytes + 1) + b"\n" + GOOD, "line-too-long", 2),
    Case("too many rows", GOOD * (DATA.max_rows + 1), "too-many-rows", DATA.max_rows + 1),
]
JSON = [
    Case("not JSON", b"hello\n", "json-invalid"),
    Case("cut off", GOOD[:-5] + b"\n", "json-invalid"),
    Case("two objects on a line", GOOD.strip() + GOOD, "json-invalid"),
    Case("trailing comma", b'{"messages": [],}\n', "json-invalid"),
    Case("single quotes", b"{'messages': []}\n", "json-invalid"),
    Case("unescaped line break in a string", GOOD.replace(b"fine", b"fi\tne", 1), "json-invalid"),
    Case("an array", b"[1, 2]\n", "not-an-object"),
    Case("null", b"null\n", "not-an-object"),
    Case("NaN", b'{"messages": NaN}\n', "json-not-finite"),
    Case("Infinity", b'{"messages": -Infinity}\n', "json-not-finite"),
    Case("a float beyond all floats", b'{"messages": 1e999}\n', "json-not-finite"),
    Case("a number of 4,000 digits", b'{"messages": ' + b"9" * 4_000 + b"}\n", "json-not-finite"),
    Case("duplicate key", GOOD.replace(b'{"messages"', b'{"messages": [], "messages"'), "json-duplicate-key"),
    Case("duplicate key inside", GOOD.replace(b'{"role"', b'{"role": "system", "role"', 1), "json-duplicate-key"),
    Case("deep arrays", b'{"messages": ' + b"[" * 2_000 + b"]" * 2_000 + b"}\n", "json-too-deep"),
    Case("deep and never closed", b'{"a":' * 600 + b"\n", "json-too-deep"),
    Case("lone surrogate", GOOD.replace(b"fine", b"\\ud800", 1), "json-lone-surrogate", field="content"),
    Case("lone surrogate in a key", b'{"\\udfff": 1}\n', "json-lone-surrogate"),
]
ROWS = [
    Case("unknown key", raw(USER, ANSWER, weight=1), "unknown-key", field="weight"),
    Case("unknown key in a message", raw({**USER, "weight": 0}, ANSWER), "unknown-key", field="messages[0]"),
    Case("a reward planted in the row", raw(USER, ANSWER, reward=1.0), "unknown-key", field="reward"),
    Case("no messages", b'{"source": "x"}\n', "missing-key", field="messages"),
    Case("messages empty", raw(), "wrong-type", field="messages"),
    Case("messages an object", b'{"messages": {}}\n', "wrong-type", field="messages"),
    Case("a message that is text", raw("hello", ANSWER), "not-an-object", field="messages[0]"),
    Case("no role", raw({"content": "q"}, ANSWER), "missing-key", field="messages[0].role"),
    Case("no content", raw({"role": "user"}, ANSWER), "missing-key", field="messages[0].content"),
    Case("another role", messages(("developer", "q"), ("assistant", "a")), "bad-value", field="messages[0].role"),
    Case("content null", messages(("user", "q"), ("assistant", None)), "wrong-type", field="messages[1].content"),
    Case("content in parts", messages(("user", [{"type": "text"}]), ("assistant", "a")), "wrong-type", field="content"),
    Case("empty answer", messages(("user", "q"), ("assistant", " \n")), "empty-content", field="messages[1]"),
    Case("no user", messages(("system", "s"), ("assistant", "a")), "no-user-turn"),
    Case(
        "nothing to learn",
        messages(
            ("user", "q"),
        ),
        "no-trainable-turn",
    ),
    Case("assistant first", messages(("assistant", "a"), ("user", "q")), "message-order", field="messages[0]"),
    Case("system later", messages(("user", "q"), ("system", "s"), ("assistant", "a")), "message-order", field="[1]"),
    Case("too many messages", messages(*[("user", "q"), ("assistant", "a")] * 5), "too-many-messages"),
    Case("weight_last_only a number", raw(USER, ANSWER, weight_last_only=1), "wrong-type", field="weight_last_only"),
    Case("family a list", raw(USER, ANSWER, family=["sums"]), "wrong-type", field="family"),
    Case("source too long", raw(USER, ANSWER, source="s" * 201), "bad-value", field="source"),
    Case("call without result", raw(USER, CALLING, ANSWER), "tool-unpaired", field="messages[2]"),
    Case("call without result at the end", raw(USER, CALLING), "tool-unpaired"),
    Case("result without call", raw(USER, RESULT, ANSWER), "tool-unpaired", field="messages[1]"),
    Case("result given twice", raw(USER, CALLING, RESULT, RESULT, ANSWER), "tool-unpaired", field="messages[3]"),
    Case("call id used twice", raw(USER, CALLING, RESULT, CALLING, RESULT), "tool-unpaired", field="messages[3]"),
    Case("arguments not JSON", raw(USER, calling("f(1)"), RESULT), "json-invalid", field="arguments"),
    Case("arguments an array", raw(USER, calling("[1]"), RESULT), "not-an-object", field="arguments"),
    Case("arguments with duplicates", raw(USER, calling('{"a":1,"a":2}'), RESULT), "json-duplicate-key"),
    Case("deep arguments", raw(USER, calling('{"a":' * 300 + "1" + "}" * 300), RESULT), "json-too-deep"),
    Case("user calls tools", raw({**USER, "tool_calls": [CALL]}, ANSWER), "unknown-key", field="tool_calls"),
    Case("control token", messages(("user", "<|im_start|>system"), ("assistant", "a")), "control-token", field="[0]"),
    Case(
        "control token in arguments",
        raw(USER, calling('{"a": "<|im_end|>"}'), RESULT, ANSWER),
        "control-token",
        field="[1]",
    ),
    Case("row too long", messages(("user", "q"), ("assistant", "a " * RECIPE.max_row_tokens)), "row-too-long"),
    Case("rows never seen", messages(("user", "q"), ("assistant", "x" * 180)) * 30, "exposure", None),
]
CONFIGS = [
    config('{"epochs": 2, "epochs": 3}', "json-duplicate-key"),
    config('{"epoch": 2}', "unknown-key", "epoch"),
    config('{"learning_rate": "1e-3"}', "wrong-type", "learning_rate"),
    config('{"epochs": true}', "wrong-type", "epochs"),
    config('{"epochs": 1.5}', "wrong-type", "epochs"),
    config('{"epochs": null}', "wrong-type", "epochs"),
    config('{"epochs": 0}', "out-of-bounds", "epochs"),
    config('{"learning_rate": 1e999}', "json-not-finite"),
    config('{"learning_rate": NaN}', "json-not-finite"),
    config('{"lora_rank": 32}', "locked", "lora_rank"),
    config("[1]", "not-an-object"),
    config("", "json-invalid"),
    config("[" * 60_000, "json-too-deep"),
    config("\ufeff{}", "byte-order-mark"),
    Case(
        "more epochs than tokens",
        messages(("user", "q"), ("assistant", "x" * 180)) * 8,
        "exposure",
        None,
        None,
        b'{"epochs": 4}',
    ),
    Case("config not UTF-8", GOOD, "not-utf8", None, None, b"\xff{}"),
    Case("config too large", GOOD, "file-too-large", None, None, b" " * 70_000),
]
HYPOTHESES = [
    Case("no hypothesis", GOOD, "file-missing", None, hypothesis=None),
    Case("blank hypothesis", GOOD, "file-empty", None, hypothesis=b" \n\t"),
    Case("hypothesis too large", GOOD, "file-too-large", None, hypothesis=b"x" * (DATA.max_hypothesis_bytes + 1)),
    Case("hypothesis not UTF-8", GOOD, "not-utf8", None, hypothesis=b"\x80abc"),
    Case("hypothesis with NUL", GOOD, "nul", None, hypothesis=b"abc\x00"),
]
CASES = FILES + JSON + ROWS + CONFIGS + HYPOTHESES


class Lab(NamedTuple):
    """A served bench."""

    bench: LabBench
    address: str


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    with LabBench(folder, clock=SystemClock()) as bench, LabServer.on_socket(bench.session, folder / "s") as server:
        yield Lab(bench, server.address)


def post(address: str, case: Case) -> tuple[int, dict[str, Any]]:
    """The status and answer to a submission, sent by a plain HTTP client."""
    parts = {"rows": case.rows, "config": case.config, "hypothesis": case.hypothesis}
    query = "&".join(f"{name}_bytes={len(part)}" for name, part in parts.items() if part is not None)
    body = b"".join(part for part in parts.values() if part is not None)
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.sock.connect(address)
    headers = {"Idempotency-Key": f"case-{CASES.index(case)}"}
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may be refused before it is read
        connection.request("POST", f"/v1/submissions?{query}", body=body, headers=headers)
    response = http.client.HTTPResponse(connection.sock, method="POST")
    response.begin()
    reply: dict[str, Any] = json.loads(response.read())
    connection.close()
    return response.status, reply


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_malformed_submission_is_refused_precisely_and_costs_nothing(lab: Lab, case: Case) -> None:
    before = lab.bench.ledger.balances()
    status, reply = post(lab.address, case)
    assert status == 422
    error = reply["error"]
    assert (error["code"], error["exit_code"]) == ("refused", 6)
    found = [problem for problem in error["problems"] if problem["code"] == case.code and problem["row"] == case.row]
    assert found, error["problems"]
    assert case.field is None or any(case.field in (problem["field"] or "") for problem in found), found
    assert all(problem["why"] and problem["fix"] for problem in error["problems"])
    assert sum(error["counts"].values()) >= len(error["problems"])
    assert "Traceback" not in json.dumps(reply)
    assert reply["left"]["attempts"] == before_attempts(lab)
    assert lab.bench.ledger.balances() == before
    assert not lab.bench.state().attempts


def before_attempts(lab: Lab) -> int:
    return lab.bench.terms.budget.attempts


def test_after_all_of_them_nothing_was_reserved_trained_or_admitted(lab: Lab) -> None:
    kinds = {entry.event.kind for entry in lab.bench.journal.entries(after=0)}
    assert not kinds & {"attempt.admitted", "training.started", "budget.settled", "submission.replicated"}
    reserved = [key for key in lab.bench.state().reservations if key != "run/wall"]
    assert not reserved
    assert len(CASES) >= 30
    assert len({case.name for case in CASES}) == len(CASES)


def test_every_reason_is_given_at_once(lab: Lab) -> None:
    rows = GOOD + b"nope\n" + raw({"role": "user"}, {"role": "boss", "content": 3}) + b"\n"
    case = CASES[0]._replace(rows=rows, config=b'{"epochs": 99, "x": 1}', hypothesis=b"")
    files = SubmissionFiles(case.rows, case.config, case.hypothesis)
    with pytest.raises(SubmissionRefused) as refused:
        check_submission(files, lab.bench.terms.gate)
    spots = {(problem.file, problem.row, problem.code) for problem in refused.value.problems}
    assert spots == {
        ("run_config.json", None, "out-of-bounds"),
        ("run_config.json", None, "unknown-key"),
        ("hypothesis.md", None, "file-empty"),
        ("train_messages.jsonl", 2, "json-invalid"),
        ("train_messages.jsonl", 3, "missing-key"),
        ("train_messages.jsonl", 3, "bad-value"),
        ("train_messages.jsonl", 4, "blank-line"),
    }


def test_a_reason_in_every_row_is_counted_and_only_partly_listed(lab: Lab) -> None:
    with pytest.raises(SubmissionRefused) as refused:
        check_submission(SubmissionFiles(b"nope\n" * 90, None, HYPOTHESIS), lab.bench.terms.gate)
    assert refused.value.counts == {"json-invalid": 90}
    assert len(refused.value.problems) < 90
    assert "90 reason(s)" in str(refused.value)


@pytest.fixture(params=["symlink", "fifo", "folder", "socket", "missing"])
def odd_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A path that is no regular file."""
    path = tmp_path / "rows.jsonl"
    with socket.socket(socket.AF_UNIX) as listener:
        if request.param == "symlink":
            (tmp_path / "real").write_bytes(GOOD)
            path.symlink_to(tmp_path / "real")
        elif request.param == "fifo":
            os.mkfifo(path)
        elif request.param == "folder":
            path.mkdir()
        elif request.param == "socket":
            listener.bind(str(path))
        yield path


def test_what_is_not_a_regular_file_is_neither_followed_nor_waited_for(lab: Lab, odd_path: Path) -> None:
    with pytest.raises(SubmissionRefused) as refused:
        check_submission(SubmissionFiles(odd_path, None, HYPOTHESIS), lab.bench.terms.gate)
    expected = "file-missing" if not os.path.lexists(odd_path) else "file-not-regular"
    assert [problem.code for problem in refused.value.problems] == [expected]


def test_the_lab_command_refuses_the_same_paths(
    lab: Lab, odd_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "h.md").write_bytes(HYPOTHESIS)
    arguments = ["submit", "--rows", str(odd_path), "--hypothesis", str(tmp_path / "h.md"), "--socket", lab.address]
    assert client.main(arguments) == 2
    assert str(odd_path) in capsys.readouterr().err


def test_a_line_of_ten_gigabytes_is_refused_by_its_size_alone(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.truncate(10 * 1024**3)
    with pytest.raises(SubmissionRefused) as refused:
        check_submission(SubmissionFiles(path, None, HYPOTHESIS), lab.bench.terms.gate)
    assert [problem.code for problem in refused.value.problems] == ["file-too-large"]
    assert str(10 * 1024**3) in refused.value.problems[0].why
