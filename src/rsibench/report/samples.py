"""What was trained on and what was answered: the first rows of submissions as chats, and official trials side by side.

Everything here is untrusted text. It is cut to a readable length and never interpreted; a row that is not a chat is
shown as it was sent. Expected answers are left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from rsibench.outcomes import TRIAL_RULES, TrialOutcome
from rsibench.report.inert import cut
from rsibench.run.record import RecordedSubmission, RunRecord
from rsibench.spec.item import Item, Trial

ROWS_SHOWN = 3
MESSAGES_SHOWN = 8
MESSAGE_CHARACTERS = 1_500
TRIAL_CHARACTERS = 3_000
_PARSED_LINE_CHARACTERS = 200_000
_SAMPLES_A_KIND = 3


class Message(NamedTuple):
    """One turn of a chat as it is shown."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class SampleRow:
    """One line of a submission: its messages, or the line itself in `raw` when it is no chat."""

    number: int
    messages: tuple[Message, ...] = ()
    left_out: int = 0
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class SubmissionView:
    """A submission with its first rows; `lines` counts those that are not empty."""

    recorded: RecordedSubmission
    lines: int
    rows: tuple[SampleRow, ...] = field(default=())


class PairKind(StrEnum):
    """How one official item went before and after."""

    GAINED = "base wrong, selected right"
    LOST = "base right, selected wrong"
    BOTH_WRONG = "both wrong"
    BOTH_RIGHT = "both right"
    BASE_RIGHT = "right"
    """Base was kept, so there is only one answer."""
    BASE_WRONG = "wrong"
    UNCOUNTED = "not counted"
    """Infrastructure failed, or the item is broken, on one side at least."""


SAMPLED_KINDS = (PairKind.GAINED, PairKind.LOST, PairKind.BOTH_WRONG, PairKind.BASE_RIGHT, PairKind.BASE_WRONG)


@dataclass(frozen=True, slots=True)
class TrialPair:
    """One decode of one official item by base and by the selected checkpoint, or by base alone when it was kept."""

    item: Item
    decode: int
    unseen: bool
    kind: PairKind
    base: Trial
    selected: Trial | None


def submission_view(recorded: RecordedSubmission) -> SubmissionView:
    """The submission's first rows, ready to be shown."""
    lines = recorded.rows.split("\n")
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    shown = tuple(sample_row(number, line) for number, line in numbered[:ROWS_SHOWN])
    return SubmissionView(recorded, len(numbered), shown)


def sample_row(number: int, line: str) -> SampleRow:
    """A line of `train_messages.jsonl` as a chat, or raw when it is too long to read or not one."""
    messages = _messages(line) if len(line) <= _PARSED_LINE_CHARACTERS else None
    if messages is None:
        return SampleRow(number, raw=cut(line, MESSAGE_CHARACTERS))
    shown = tuple(Message(cut(role, 40), cut(text, MESSAGE_CHARACTERS)) for role, text in messages[:MESSAGES_SHOWN])
    return SampleRow(number, shown, left_out=max(0, len(messages) - MESSAGES_SHOWN))


def trial_pairs(record: RunRecord, shown: frozenset[tuple[str, str]]) -> tuple[TrialPair, ...]:
    """Official trials side by side, in the order of the items. Trials of items that the record lacks are left out."""
    items = {item.item_id: item for item in record.official_items}
    kept = record.result.selected_attempt is None
    after = {} if kept else {(trial.item_id, trial.decode): trial for trial in record.selected_official_trials}
    pairs = []
    for base in record.base_official_trials:
        item = items.get(base.item_id)
        selected = after.get((base.item_id, base.decode))
        if item is None or (selected is None and not kept):
            continue
        unseen = (item.family, item.template) not in shown
        pairs.append(TrialPair(item, base.decode, unseen, _kind(base, selected), base, selected))
    return tuple(pairs)


def sampled(pairs: Sequence[TrialPair]) -> dict[PairKind, tuple[TrialPair, ...]]:
    """A few pairs of each kind that is worth reading, from different families where possible."""
    found = {}
    for kind in SAMPLED_KINDS:
        of_kind = [pair for pair in pairs if pair.kind is kind]
        first_of_family = {pair.item.family: pair for pair in reversed(of_kind)}
        firsts = [pair for pair in of_kind if first_of_family[pair.item.family] is pair]
        others = [pair for pair in of_kind if first_of_family[pair.item.family] is not pair]
        if of_kind:
            found[kind] = tuple((firsts + others)[:_SAMPLES_A_KIND])
    return found


def _kind(base: Trial, selected: Trial | None) -> PairKind:
    sides = [base] if selected is None else [base, selected]
    if not all(TRIAL_RULES[side.verdict.outcome].counts for side in sides):
        return PairKind.UNCOUNTED
    before = base.verdict.outcome is TrialOutcome.PASS
    if selected is None:
        return PairKind.BASE_RIGHT if before else PairKind.BASE_WRONG
    after = selected.verdict.outcome is TrialOutcome.PASS
    if before:
        return PairKind.BOTH_RIGHT if after else PairKind.LOST
    return PairKind.GAINED if after else PairKind.BOTH_WRONG


def _messages(line: str) -> list[tuple[str, str]] | None:
    """Role and text of every message; None when the line is not a chat."""
    try:
        row = json.loads(line)
        messages = row.get("messages") if isinstance(row, dict) else None
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            return None
        return [(str(message.get("role", "no role")), _text(message)) for message in messages]
    except (ValueError, RecursionError):
        return None


def _text(message: dict[str, object]) -> str:
    """The content, and below it whatever else the message holds, as JSON."""
    content = message.get("content")
    text = content if isinstance(content, str) else json.dumps(content)
    others = {key: value for key, value in message.items() if key not in ("role", "content")}
    return f"{text}\n{json.dumps(others, ensure_ascii=False)}" if others else text
