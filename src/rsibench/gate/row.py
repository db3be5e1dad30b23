"""One line of `train_messages.jsonl`: bytes to a conversation of the right form, or every reason why not."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import JsonValue

from rsibench.gate.codes import Code
from rsibench.gate.files import Line
from rsibench.gate.message import MessageReader
from rsibench.gate.problems import ROWS_FILE, Problems
from rsibench.gate.shape import JsonObject, RowReport, check_keys, described, list_of, object_of, text_of
from rsibench.gate.strict_json import StrictReader
from rsibench.gate.text import decode_text
from rsibench.gate.turns import check_turns
from rsibench.rendering import ChatMessage
from rsibench.spec.profile import DataPolicy

_LABEL_CHARACTERS = 200


class Conversation(NamedTuple):
    """A row whose messages could be read, not yet rendered. `family` and `source` are the researcher's own labels.

    `well_formed` is False when something else is wrong with it: its texts are still looked at, it is never rendered.
    """

    number: int
    messages: tuple[ChatMessage, ...]
    last_only: bool
    family: str | None
    source: str | None
    well_formed: bool


class RowReader:
    """Reads rows one after another; not for use by two threads at once."""

    def __init__(self, policy: DataPolicy, problems: Problems) -> None:
        self._policy = policy
        self._problems = problems
        self._json = StrictReader(policy.max_json_depth)
        self._messages = MessageReader(policy.max_json_depth)

    def read(self, line: Line) -> Conversation | None:
        """The row, or None when its messages cannot be read."""
        before = len(self._problems)
        report = RowReport(self._problems, line.number)
        value = self._parse(line, report)
        row = None if value is None else object_of(value, "", report)
        if row is None:
            return None
        check_keys(row, "", ("messages",), ("source", "family", "weight_last_only"), report)
        messages = self._read_messages(row, report)
        last_only = _flag(row, "weight_last_only", report)
        family = _label(row, "family", report)
        source = _label(row, "source", report)
        if not messages:
            return None
        well_formed = len(self._problems) == before
        return Conversation(line.number, messages, last_only, family, source, well_formed)

    def _parse(self, line: Line, report: RowReport) -> JsonValue:
        """The line's JSON value; None with a problem."""
        if b"\r" in line.data:
            why = "the line holds a carriage return (Windows line ends)"
            report.add(Code.CARRIAGE_RETURN, why, "end lines with a line feed only, and write \\r inside strings")
        text = decode_text(line.data, ROWS_FILE, self._problems, row=line.number)
        if text is None:
            return None
        if not text.strip():
            report.add(Code.BLANK_LINE, "the line is blank", "remove it")
            return None
        parsed = self._json.parse(text)
        for finding in parsed.findings:
            report.add(finding.code, finding.why, finding.fix, finding.field)
        if not parsed.findings and parsed.value is None:
            report.add(Code.NOT_AN_OBJECT, "the row must be an object, not null", "write an object")
        return None if parsed.findings else parsed.value

    def _read_messages(self, row: JsonObject, report: RowReport) -> tuple[ChatMessage, ...]:
        members = list_of(row, "messages", "", report) or []
        if len(members) > self._policy.max_messages_per_row:
            why = f"the row has {len(members)} messages; at most {self._policy.max_messages_per_row} are taken"
            report.add(Code.TOO_MANY_MESSAGES, why, "split the row", "messages")
            return ()
        read = [self._messages.read(member, f"messages[{index}]", report) for index, member in enumerate(members)]
        messages = tuple(message for message in read if message is not None)
        if len(messages) < len(members):
            return ()
        if messages:
            check_turns(messages, report)
        return messages


def _flag(row: JsonObject, key: str, report: RowReport) -> bool:
    value = row.get(key, False)
    if isinstance(value, bool):
        return value
    report.add(Code.WRONG_TYPE, f"{key} must be true or false, not {described(value)}", "write true or false", key)
    return False


def _label(row: JsonObject, key: str, report: RowReport) -> str | None:
    text = text_of(row, key, "", report)
    if text is not None and not 0 < len(text.strip()) <= len(text) <= _LABEL_CHARACTERS:
        why = f"{key} must have 1 to {_LABEL_CHARACTERS} characters, not {len(text)}"
        report.add(Code.BAD_VALUE, why, "write a short label or leave it out", key)
    return text
