"""Rows as chats and trials side by side."""

from __future__ import annotations

import json

import pytest

from rsibench.outcomes import TrialOutcome
from rsibench.report.families import shown_templates
from rsibench.report.samples import PairKind, sample_row, sampled, trial_pairs
from rsibench.testing.records import MadeUp, made_up_record


def test_a_chat_is_shown_turn_by_turn_with_its_tool_calls() -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"name": "add"}}]}
    row = sample_row(1, json.dumps({"messages": [{"role": "user", "content": "1+1"}, call]}))
    assert [message.role for message in row.messages] == ["user", "assistant"]
    assert "add" in row.messages[1].text
    assert row.raw is None


@pytest.mark.parametrize(
    "line",
    ["", "{", "[" * 100_000, '{"messages": 3}', '{"messages": [1]}', "null", "x" * 5_000_000, "1" * 5_000, "\ud800"],
)
def test_what_is_no_chat_is_shown_as_it_was_sent_and_cut(line: str) -> None:
    row = sample_row(1, line)
    assert row.messages == ()
    assert row.raw is not None
    assert row.raw.startswith(line[:100])
    assert len(row.raw) < 2_000


def test_long_chats_say_how_many_messages_are_missing() -> None:
    messages = [{"role": "user", "content": str(number)} for number in range(30)]
    row = sample_row(1, json.dumps({"messages": messages}))
    assert len(row.messages) + row.left_out == 30


@pytest.mark.parametrize("wish", [MadeUp(seed=3, broken_share=0.1), MadeUp(selected=None)])
def test_kinds_agree_with_the_outcomes(wish: MadeUp) -> None:
    record = made_up_record(wish)
    shown = shown_templates(record.selection_items)
    pairs = trial_pairs(record, shown)
    assert len(pairs) == len(record.official_items)
    right = {PairKind.LOST, PairKind.BOTH_RIGHT, PairKind.BASE_RIGHT}
    for pair in pairs:
        if pair.kind is not PairKind.UNCOUNTED:
            assert (pair.base.verdict.outcome is TrialOutcome.PASS) == (pair.kind in right)
    for kind, chosen in sampled(pairs).items():
        assert chosen
        assert all(pair.kind is kind for pair in chosen)
        assert len({pair.item.family for pair in chosen}) == min(
            len(chosen), len({pair.item.family for pair in pairs if pair.kind is kind})
        )
