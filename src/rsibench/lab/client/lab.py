#!/usr/bin/env python3
"""lab: what a researcher's tools call. It needs Python >= 3.9 and nothing else, and runs from any folder.

    lab status | submit | wait N | feedback N | select N|none      (lab COMMAND --help tells the options)

The lab's address comes from --socket or from the variable RSIBENCH_LAB: a Unix socket's path or http://127.0.0.1:PORT.
Every command may be repeated: submit sends a key made of the files, so that a repeated submission has one effect.
Exit codes: 0 done; 2 wrong usage or an unreadable file; 3 no lab to talk to; 5 the budget does not allow it; 6 the
submission was refused; 7 the infrastructure failed; 8 not now (wrong moment, or still not finished).
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import http.client
import json
import os
import socket
import stat
import sys
import time
import urllib.parse
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

VARIABLE = "RSIBENCH_LAB"
RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0)
PIECE_BYTES = 1 << 20
ASK_SECONDS = 60.0
SUBMIT_SECONDS = 1_800.0
WAIT_SECONDS = 30.0
EXPECT_SECONDS = 10.0
CONTINUE = b"HTTP/1.1 100"
LISTED_PROBLEMS = 30
LISTED_ITEMS = 12
USAGE, UNREACHABLE, FAILED, NOT_NOW = 2, 3, 7, 8
STAGE_EXITS = {"scored": 0, "failed": FAILED, "cancelled": NOT_NOW}

Json = dict[str, Any]


class Stop(Exception):
    """Ends the command with an exit code; `reply` is what the lab said, if it said anything."""

    def __init__(self, code: int, message: str, reply: Json | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reply = reply


class LabFile(NamedTuple):
    """An opened regular file and its size."""

    stream: BinaryIO
    size: int


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Opens the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Lab:
    """Requests to the lab, tried again when the connection breaks; every request of this tool may be repeated."""

    def __init__(self, address: str) -> None:
        self._address = address

    def ask(
        self, method: str, path: str, *, body: Any = list, headers: Any = None, seconds: float = ASK_SECONDS
    ) -> Json:
        """The lab's answer. `body` makes the body's pieces for each try. Stops the command when the lab refuses."""
        trouble: Exception = OSError("not tried")
        for pause in (*RETRY_SECONDS, None):
            try:
                return self._once(method, path, body(), headers or {}, seconds)
            except (OSError, http.client.HTTPException) as error:
                trouble = error
            if pause is not None:
                time.sleep(pause)
        why = getattr(trouble, "strerror", None) or str(trouble) or type(trouble).__name__
        raise Stop(UNREACHABLE, f"no answer from the lab at {self._address}: {why}; is the run still going?")

    def _once(self, method: str, path: str, body: Any, headers: Json, seconds: float) -> Json:
        connection = self._connect(seconds)
        try:
            connection.putrequest(method, "/v1" + path)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            if "Expect" not in headers or wants_body(connection.sock):
                for piece in body:
                    connection.send(piece)
            return self._read(connection.getresponse())
        finally:
            connection.close()

    def _connect(self, seconds: float) -> http.client.HTTPConnection:
        if not self._address.startswith("http://"):
            return UnixConnection(self._address, seconds)
        parts = urllib.parse.urlsplit(self._address)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=seconds)

    @staticmethod
    def _read(response: http.client.HTTPResponse) -> Json:
        data = response.read()
        try:
            reply: Json = json.loads(data)
        except ValueError:
            raise Stop(FAILED, f"the lab answered {response.status} and not in JSON") from None
        error = reply.get("error")
        if error is not None:
            raise Stop(int(error.get("exit_code", FAILED)), error_text(error), reply)
        return reply


def status(lab: Lab, _options: argparse.Namespace) -> tuple[Json, int]:
    """`lab status`"""
    return lab.ask("GET", "/status"), 0


def submit(lab: Lab, options: argparse.Namespace) -> tuple[Json, int]:
    """`lab submit`"""
    config = options.config or ("run_config.json" if os.path.lexists("run_config.json") else None)
    names = [("rows", options.rows), ("config", config), ("hypothesis", options.hypothesis)]
    with contextlib.ExitStack() as opened:
        files = []
        for part, name in names:
            if name is not None:
                files.append((part, open_file(name)))
                opened.enter_context(files[-1][1].stream)
        reply = hand_in(lab, files, options.key)
    if not options.wait:
        return reply, 0
    note(options, "attempt {attempt} is {outcome}; waiting for its score".format(**reply))
    waited, code = wait_for(lab, int(reply["attempt"]), options.timeout)
    return {**waited, "submission": reply["submission"], "outcome": reply["outcome"]}, code


def hand_in(lab: Lab, files: list[tuple[str, LabFile]], key: str | None) -> Json:
    """One request with all files, which may be repeated: its key is the files' own unless one is given."""
    query = urllib.parse.urlencode({part + "_bytes": file.size for part, file in files})
    headers = {
        "Idempotency-Key": key or key_of(files),
        "Content-Type": "application/octet-stream",
        "Content-Length": str(sum(file.size for _, file in files)),
        "Expect": "100-continue",
    }
    path = "/submissions?" + query
    return lab.ask("POST", path, body=lambda: pieces(files), headers=headers, seconds=SUBMIT_SECONDS)


def wait(lab: Lab, options: argparse.Namespace) -> tuple[Json, int]:
    """`lab wait N`"""
    return wait_for(lab, options.attempt, options.timeout)


def wait_for(lab: Lab, attempt: int, timeout: float | None) -> tuple[Json, int]:
    """Asks again and again until the attempt is over or the time is up."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        left = WAIT_SECONDS if deadline is None else max(0.0, min(WAIT_SECONDS, deadline - time.monotonic()))
        path = f"/attempts/{attempt}/wait?timeout_seconds={left:.3f}"
        reply = lab.ask("GET", path, seconds=ASK_SECONDS + left)
        if reply["finished"]:
            return reply, STAGE_EXITS.get(reply["stage"], FAILED)
        if deadline is not None and time.monotonic() >= deadline:
            return reply, NOT_NOW


def feedback(lab: Lab, options: argparse.Namespace) -> tuple[Json, int]:
    """`lab feedback N`"""
    return lab.ask("GET", f"/attempts/{options.attempt}/feedback"), 0


def select(lab: Lab, options: argparse.Namespace) -> tuple[Json, int]:
    """`lab select N|none`"""
    body = json.dumps({"attempt": options.attempt, "final": options.final}).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    return lab.ask("POST", "/selection", body=lambda: [body], headers=headers), 0


def wants_body(connection: socket.socket) -> bool:
    """Whether the lab asks for the body; it may also refuse at once and hang up. Silence counts as a yes."""
    connection.settimeout(EXPECT_SECONDS)
    try:
        return connection.recv(len(CONTINUE), socket.MSG_PEEK) == CONTINUE
    except socket.timeout:  # noqa: UP041 - not yet the same as TimeoutError in Python 3.9
        return True
    finally:
        connection.settimeout(SUBMIT_SECONDS)


def open_file(name: str) -> LabFile:
    """A regular file, opened; neither follows a symbolic link nor waits for a FIFO."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if stat.S_ISLNK(os.lstat(name).st_mode):
            raise Stop(USAGE, f"{name}: it is a symbolic link; hand in the file itself")
        descriptor = os.open(name, flags)
    except OSError as error:
        raise Stop(USAGE, f"{name}: {error.strerror}") from None
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        raise Stop(USAGE, f"{name}: it is not a regular file (a FIFO, folder, socket or device)")
    return LabFile(os.fdopen(descriptor, "rb"), facts.st_size)


def pieces(files: Iterable[tuple[str, LabFile]]) -> Iterator[bytes]:
    """The files one after the other, each exactly as long as was declared."""
    for name, file in files:
        file.stream.seek(0)
        left = file.size
        while left > 0:
            piece = file.stream.read(min(left, PIECE_BYTES))
            if not piece:
                raise Stop(USAGE, f"the file for {name} became shorter while it was read")
            left -= len(piece)
            yield piece


def key_of(files: Iterable[tuple[str, LabFile]]) -> str:
    """A key that only equal files have."""
    digest = hashlib.sha256()
    for name, file in files:
        digest.update(f"{name}:{file.size};".encode())
        for piece in pieces([(name, file)]):
            digest.update(piece)
    return digest.hexdigest()


def error_text(error: Json) -> str:
    """A refusal for people: every listed problem on a line of its own."""
    place = "{}: ".format(error["where"]) if error.get("where") and not error.get("problems") else ""
    lines = ["{}: {}{}".format(error.get("code"), place, error.get("what"))]
    for problem in error.get("problems", [])[:LISTED_PROBLEMS]:
        spot = "{}:{}".format(problem["file"], problem["row"]) if problem.get("row") else problem["file"]
        field = " [{}]".format(problem["field"]) if problem.get("field") else ""
        lines.append("  {}{} {}: {} ({})".format(spot, field, problem["code"], problem["why"], problem["fix"]))
    counts = error.get("counts") or {}
    if len(lines) - 1 < sum(counts.values()):
        lines.append("  all by code: " + ", ".join("{} {}".format(*pair) for pair in sorted(counts.items())))
    if error.get("fix") and not error.get("problems"):
        lines.append("  " + error["fix"])
    return "\n".join(lines)


def show(reply: Json) -> Iterator[str]:
    """A reply for people."""
    if "phase" in reply:
        yield "run {run_id} ({profile} {variant}): {phase}".format(**reply)
        yield "base student: " + score_text(reply["base"])
        yield from (attempt_text(view) for view in reply["attempts"])
    elif "view" in reply:
        yield attempt_text(reply["view"])
    elif "feedback" in reply:
        yield from feedback_lines(reply["feedback"])
    elif "outcome" in reply:
        yield "submission {submission} {outcome}: attempt {attempt}, {rows} rows, {train_tokens} tokens".format(**reply)
    if "selection" in reply:
        yield "selection: " + selection_text(reply["selection"])
    if reply.get("left"):
        left = reply["left"]
        yield "left: {:.0f} s ({:.0f} s to submit), {} attempts, ${:.4f} training, ${:.4f} sampling".format(
            left["seconds"], left["submit_seconds"], left["attempts"], left["training_usd"], left["sampling_usd"]
        )


def score_text(score: Json | None) -> str:
    """A score with its interval."""
    if score is None:
        return "not scored"
    if score["rate"] is None:
        return "withheld, only {counted} of {total} trials counted".format(**score)
    low, high = score["interval_low"] or 0.0, score["interval_high"] or 0.0
    text = "{:.1%} [{:.1%}, {:.1%}], {} of {}"
    return text.format(score["rate"], low, high, score["passed"], score["counted"])


def attempt_text(view: Json) -> str:
    """One attempt on one line."""
    head = "attempt {attempt}: {stage}, {rows} rows, {train_tokens} tokens".format(**view)
    tail = view["failure"] or (score_text(view["score"]) if view["score"] else "")
    noop = " (the adapter hardly differs from the base)" if view["near_noop"] else ""
    return head + (": " + tail if tail else "") + noop


def selection_text(selection: Json) -> str:
    """The choice in words."""
    if not selection["chosen"]:
        return "none yet"
    chosen = "the base student" if selection["attempt"] is None else "attempt {}".format(selection["attempt"])
    return "{}, {}".format(chosen, "committed" if selection["committed"] else "can still be changed")


def feedback_lines(document: Json) -> Iterator[str]:
    """Families, then some of the items that did not pass."""
    who = "attempt {attempt}".format(**document) if document["attempt"] else "base student"
    yield "{}: {}".format(who, score_text(document["score"]))
    for family in document["families"]:
        yield "  {family:24} {passed:4} of {counted}".format(**family)
    wrong = [item for item in document["items"] if item["outcome"] != "pass"]
    for item in wrong[:LISTED_ITEMS]:
        yield "  {item_id} ({family}): {outcome}".format(**item)
        for name in ("prompt", "output", "extracted", "reason"):
            if item.get(name):
                yield f"    {name}: {printable(item[name])}"
    if len(wrong) > LISTED_ITEMS:
        yield f"  {len(wrong) - LISTED_ITEMS} more that did not pass; --json prints everything"


def printable(text: str) -> str:
    """Text that cannot steer a terminal, on one line."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def note(options: argparse.Namespace, text: str) -> None:
    """Something to read meanwhile."""
    if not options.json:
        print(text, flush=True)


def attempt_number(text: str) -> int:
    """An attempt's number."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not an attempt's number")
    return int(text)


def attempt_or_none(text: str) -> int | None:
    """An attempt's number, or None for the word none."""
    return None if text == "none" else attempt_number(text)


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print the lab's answer as JSON, errors too")
    common.add_argument("--socket", default=None, help=f"the lab's address (default: the variable {VARIABLE})")
    parser = argparse.ArgumentParser(prog="lab", description="Talks to the laboratory of this run.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("status", parents=[common], help="attempts, scores and what is left").set_defaults(run=status)
    handing = commands.add_parser("submit", parents=[common], help="hand in training data")
    handing.add_argument("--rows", default="train_messages.jsonl", help="(default: %(default)s)")
    handing.add_argument("--config", default=None, help="(default: run_config.json, if there is one)")
    handing.add_argument("--hypothesis", default="hypothesis.md", help="(default: %(default)s)")
    handing.add_argument("--key", default=None, help="idempotency key (default: a hash of the files)")
    handing.add_argument("--wait", action="store_true", help="wait until the attempt is over")
    handing.add_argument("--timeout", type=float, default=None, help="seconds to wait at most")
    handing.set_defaults(run=submit)
    waiting = commands.add_parser("wait", parents=[common], help="wait until an attempt is over")
    waiting.add_argument("attempt", type=attempt_number)
    waiting.add_argument("--timeout", type=float, default=None, help="seconds to wait at most")
    waiting.set_defaults(run=wait)
    telling = commands.add_parser("feedback", parents=[common], help="what is told about an attempt (0: the base)")
    telling.add_argument("attempt", type=attempt_number)
    telling.set_defaults(run=feedback)
    choosing = commands.add_parser("select", parents=[common], help="choose an attempt, or none for the base student")
    choosing.add_argument("attempt", type=attempt_or_none)
    choosing.add_argument("--final", action="store_true", help="commit: this ends the research")
    choosing.set_defaults(run=select)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    options = make_parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # text streams of the interpreter
    try:
        address = options.socket or os.environ.get(VARIABLE)
        if not address:
            raise Stop(USAGE, f"no address: set {VARIABLE} or give --socket")
        reply, code = options.run(Lab(address), options)
    except Stop as stop:
        if options.json:
            print(json.dumps(stop.reply or {"error": {"code": "lab-command", "what": str(stop)}, "left": None}))
        else:
            print(f"lab: {stop}", file=sys.stderr)
            for line in show({"left": (stop.reply or {}).get("left")}):
                print(line, file=sys.stderr)
        return stop.code
    except KeyboardInterrupt:
        return 130
    print(json.dumps(reply) if options.json else "\n".join(show(reply)))
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
