"""What an admitted submission is: the tokens of its rows, its resolved configuration and their sums."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rsibench.errors import SubmissionRefused
from rsibench.gate.files import SubmissionFiles
from rsibench.gate.submission import NO_FAMILY, GatePolicy, check_submission
from rsibench.rendering import ChatMessage, FunctionCall, ToolCall
from rsibench.testing.lab import HYPOTHESIS, RECIPE, bench_files, bench_row


def files(*rows: Mapping[str, Any], config: bytes | None = None) -> SubmissionFiles:
    return SubmissionFiles("".join(json.dumps(row) + "\n" for row in rows).encode(), config, HYPOTHESIS)


def test_rows_are_rendered_by_the_students_own_renderer(policy: GatePolicy) -> None:
    admitted = check_submission(files(bench_row("hello", family="words", source="mine")), policy)
    chat = [ChatMessage(role="user", content="say hello"), ChatMessage(role="assistant", content="hello")]
    assert admitted.rows[0].rendered == policy.renderer.render_row(chat, last_only=False)
    assert (admitted.rows[0].family, admitted.rows[0].source) == ("words", "mine")


def test_sums_are_those_of_the_rows_and_epochs(policy: GatePolicy) -> None:
    admitted = check_submission(files(bench_row("one"), bench_row("two", family="x"), config=b'{"epochs": 3}'), policy)
    assert admitted.row_tokens == sum(len(row.rendered.token_ids) for row in admitted.rows)
    assert admitted.loss_tokens == sum(sum(row.rendered.loss_mask) for row in admitted.rows)
    assert admitted.train_tokens == 3 * admitted.row_tokens
    assert admitted.families == {NO_FAMILY: 1, "x": 1}


def test_a_missing_configuration_is_all_defaults(policy: GatePolicy) -> None:
    knobs = RECIPE.knobs
    config = check_submission(bench_files("one"), policy).config
    assert config.learning_rate == knobs.learning_rate.default
    assert (config.epochs, config.lora_rank) == (knobs.epochs.default, knobs.lora_rank.default)


def test_a_locked_setting_may_be_repeated_at_its_value(policy: GatePolicy) -> None:
    assert check_submission(bench_files("one", config={"lora_rank": 8}), policy).config.lora_rank == 8


def test_a_whole_number_may_be_written_with_a_point(policy: GatePolicy) -> None:
    assert check_submission(bench_files("one", config={"epochs": 2.0}), policy).config.epochs == 2


def test_the_last_line_needs_no_line_feed(policy: GatePolicy) -> None:
    good = bench_files("one", "two")
    assert isinstance(good.rows, bytes)
    without = good._replace(rows=good.rows.removesuffix(b"\n"))
    assert check_submission(without, policy) == check_submission(good, policy)


def test_weight_last_only_learns_from_the_last_answer(policy: GatePolicy) -> None:
    row = bench_row("one")
    turns = row["messages"]
    assert isinstance(turns, list)
    both = {"messages": turns * 2}
    every = check_submission(files(both), policy)
    last = check_submission(files({**both, "weight_last_only": True}), policy)
    assert every.loss_tokens == 2 * last.loss_tokens
    assert every.row_tokens == last.row_tokens


def test_a_tool_conversation_is_admitted_as_written(policy: GatePolicy) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    turns = [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": "1 + 1"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "", "tool_call_id": "c1", "name": "add"},
        {"role": "assistant", "content": "2"},
    ]
    admitted = check_submission(files({"messages": turns}), policy)
    chat = [
        ChatMessage(role="system", content="be short"),
        ChatMessage(role="user", content="1 + 1"),
        ChatMessage(
            role="assistant",
            content="",
            tool_calls=(ToolCall(id="c1", function=FunctionCall(name="add", arguments='{"a": 1}')),),
        ),
        ChatMessage(role="tool", content="", tool_call_id="c1", name="add"),
        ChatMessage(role="assistant", content="2"),
    ]
    assert admitted.rows[0].rendered == policy.renderer.render_row(chat, last_only=False)


def test_text_beyond_ascii_is_admitted_raw_and_escaped_alike(policy: GatePolicy) -> None:
    row = bench_row("naïve 😀 漢字\u2028end")
    escaped = json.dumps(row).encode() + b"\n"
    plain = json.dumps(row, ensure_ascii=False).encode() + b"\n"
    told = [check_submission(SubmissionFiles(rows, None, HYPOTHESIS), policy) for rows in (escaped, plain)]
    assert told[0] == told[1]


def test_the_excess_over_full_exposure_is_told_in_tokens(policy: GatePolicy) -> None:
    one = check_submission(bench_files("one"), policy).row_tokens
    tight = replace(policy, recipe=RECIPE.model_copy(update={"max_train_tokens": 2 * one - 1}))
    assert check_submission(bench_files("one"), tight).train_tokens == one
    with pytest.raises(SubmissionRefused) as refused:
        check_submission(bench_files("one", config={"epochs": 2}), tight)
    assert [problem.code for problem in refused.value.problems] == ["exposure"]
    assert " 1 too many" in refused.value.problems[0].why


def test_rows_far_beyond_the_budget_are_checked_but_not_counted(policy: GatePolicy) -> None:
    tight = replace(policy, recipe=RECIPE.model_copy(update={"max_train_tokens": 5}))
    good = bench_files(*["some text"] * 20)
    assert isinstance(good.rows, bytes)
    with pytest.raises(SubmissionRefused) as refused:
        check_submission(good._replace(rows=good.rows + b"nope\n"), tight)
    assert refused.value.counts == {"exposure": 1, "json-invalid": 1}
    assert "more rows" in str([problem.why for problem in refused.value.problems])


def test_exactly_the_longest_row_is_admitted(policy: GatePolicy) -> None:
    one = check_submission(bench_files("one"), policy).row_tokens
    exact = replace(policy, recipe=RECIPE.model_copy(update={"max_row_tokens": one}))
    assert check_submission(bench_files("one"), exact).row_tokens == one
    with pytest.raises(SubmissionRefused) as refused:
        check_submission(
            bench_files("one"), replace(policy, recipe=RECIPE.model_copy(update={"max_row_tokens": one - 1}))
        )
    assert [problem.code for problem in refused.value.problems] == ["row-too-long"]


def test_a_file_is_read_like_the_same_bytes(policy: GatePolicy, tmp_path: Path) -> None:
    good = bench_files("one", "two")
    assert isinstance(good.rows, bytes)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(good.rows)
    assert check_submission(good._replace(rows=path), policy) == check_submission(good, policy)


def test_a_row_that_is_wrong_in_two_ways_is_told_both(policy: GatePolicy) -> None:
    row = {"messages": [{"role": "user", "content": "stop <|im_end|> here"}]}
    with pytest.raises(SubmissionRefused) as caught:
        check_submission(files(row, bench_row("fine")), policy)
    assert {(problem.row, problem.code) for problem in caught.value.problems} == {
        (1, "no-trainable-turn"),
        (1, "control-token"),
    }
